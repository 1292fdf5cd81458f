#!/bin/sh
# The same experiments in simulation and on real processes, side by side: what the
# simulator predicts, what was measured, and the error of the prediction per cell.
# Prints Markdown, which docs/explanation/worlds.md holds; takes two minutes of an idle machine.
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go build -o "$out/bench" ./cmd/bench
for name in elections mutexes; do
	for world in sim nats; do
		"$out/bench" run "configs/worlds/$name.yaml" --transport $world --out "$out/$world" --quiet >/dev/null
	done
	metrics=election_ms,downtime_ms,messages_per_election
	[ $name = mutexes ] && metrics=waiting_ms,throughput_per_s,messages_per_entry
	echo "## \`configs/worlds/$name.yaml\`"
	echo
	"$out/bench" compare "$out/sim/worlds-$name" "$out/nats/worlds-$name" --ignore transport --no-fail \
		--metrics $metrics --format markdown | grep -v -E '\| (typical|mean|p90|p99|p10|p1) \|' | sed -n '/<details>/,$p' | sed -e '/details>/d; /^base: /d; /^new: /d; /the experiments differ: transport/d; s/^- new: /- /' \
			-e 's/ base | new | change | 95 % |/ simulated | measured | error | 95 % |/; s/^- base, new:/- simulated, measured:/; /^Verdict: /d' | cat -s
done
