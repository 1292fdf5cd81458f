#!/bin/sh
# Fuzzes every target of every package for a while each: a duration ("10s"), or
# a number of inputs ("20000x"). A target that is stopped by the clock while it
# still runs an input now and then reports "context deadline exceeded" although
# nothing failed (golang/go#75804); a count of inputs has no such race, so that
# is what CI asks for.
# Inputs from real runs are long: to make each find as small as can be would take
# most of the time, so there are a hundred tries.
set -eu
amount=${1:-100000x}
for file in $(git ls-files '*_test.go'); do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		echo "fuzz: $(dirname "$file") $target"
		go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$amount" -fuzzminimizetime 100x
	done
done
