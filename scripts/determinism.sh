#!/bin/sh
# Runs one experiment in simulation twice, on one core and on all, and compares
# every table byte for byte.
set -eu
config=${1:-configs/ci.yaml}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go build -o "$out/bench" ./cmd/bench
GOMAXPROCS=1 "$out/bench" run "$config" --transport sim --out "$out/a" --quiet >/dev/null
"$out/bench" run "$config" --transport sim --out "$out/b" --quiet >/dev/null
name=$(ls "$out/a")
for table in trials operations messages summary; do
	cmp "$out/a/$name/latest/$table.csv" "$out/b/$name/latest/$table.csv"
done
echo "determinism: $config: trials, operations, messages and summary are the same to the byte"
