#!/bin/sh
# Measures the wire of this machine: what it adds to the delay of a link of 5 ms at 1 000 packets a second, and
# how many packets it moves. The load of the machine stands beside, since it is most of what a wire adds. Skipped
# with a word where there is no wire.
#
#   scripts/wire.sh [SECONDS]    each of the three measurements takes so long; 10 by default
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go test -c -o "$out/wire.test" ./internal/worlds/wire
echo "wire: $(uname -sr), $(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg)"
CONCLAVE_WIRE_SECONDS=${1:-10} "$out/wire.test" -test.run '^$' -test.bench . -test.benchtime 1x -test.v >"$out/said" ||
	{ cat "$out/said"; exit 1; }
grep -E '^Benchmark.*(packets|/s)' "$out/said" | awk '
	{
		for (i = 3; i < NF; i += 2) v[$(i + 1)] = $i
	}
	/^BenchmarkDelay/ {
		printf "wire: 5 ms, 1 000 packets/s: added delay p50 %s µs, p99 %s µs, max %s µs, of %d packets; the wire itself late p50 %s µs, p99 %s µs\n",
			v["added_p50_µs"], v["added_p99_µs"], v["added_max_µs"], v["packets"], v["late_p50_µs"], v["late_p99_µs"]
	}
	/^BenchmarkPackets/ {
		printf "wire: %d packets/s moved of %d sent in a flood; %d missed; late p50 %s µs, p99 %s µs\n",
			v["moved/s"], v["sent/s"], v["missed/s"], v["late_p50_µs"], v["late_p99_µs"]
	}
	/^BenchmarkTCP/ {
		printf "wire: one TCP connection: %d Mbit/s, %d packets/s\n", v["Mbit/s"], v["packets/s"]
	}'
grep -q '^Benchmark.*/s' "$out/said" || {
	echo "wire: skipped: $(grep -m1 -o 'no wire here: .*' "$out/said" || echo "nothing was measured")"
	[ "${CI:-}" != true ]
}
