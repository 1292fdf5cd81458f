#!/bin/sh
# Runs one experiment in simulation twice, on one core and on all, and compares
# every table byte for byte; at night also by a program for processors with fused
# multiply-add, where this is one. That there is none of it in our figures is looked for in
# any case.
set -eu
config=${1:-configs/ci.yaml}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
scripts/fused.sh
if [ -n "${BENCH:-}" ]; then cp "$BENCH" "$out/bench"; else go build -o "$out/bench" ./cmd/bench; fi
cp "$out/bench" "$out/other"
if [ -n "${CONCLAVE_NIGHTLY:-}" ] && [ "$(go env GOARCH)" = amd64 ] && grep -qw fma /proc/cpuinfo 2>/dev/null; then
	GOAMD64=v3 go build -o "$out/other" ./cmd/bench
fi
GOMAXPROCS=1 "$out/bench" run "$config" --transport sim --out "$out/a" --quiet >/dev/null
"$out/other" run "$config" --transport sim --out "$out/b" --quiet >/dev/null
name=$(ls "$out/a")
for table in trials operations messages summary; do
	cmp "$out/a/$name/latest/$table.csv" "$out/b/$name/latest/$table.csv"
done
echo "determinism: $config: trials, operations, messages and summary are the same to the byte"
