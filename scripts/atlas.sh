#!/bin/sh
# The gate of the atlas: where each elector of configs/atlas.yaml serves, exact in simulation.
#
#   scripts/atlas.sh          makes it again and compares: every changed share fails
#   scripts/atlas.sh refresh  puts the new one into results/reference/atlas and docs/images; say
#                             why in CHANGELOG.md under "Results changed"
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if [ -n "${BENCH:-}" ]; then cp "$BENCH" "$out/bench"; else go build -o "$out/bench" ./cmd/bench; fi
"$out/bench" atlas configs/atlas.yaml --csv "$out/atlas.csv" --svg "$out/atlas.svg" --quiet >"$out/atlas.txt" || {
	cat "$out/atlas.txt"
	exit 1
}
if [ "${1:-}" = refresh ]; then
	mkdir -p results/reference/atlas
	cp "$out/atlas.csv" results/reference/atlas/atlas.csv
	cp "$out/atlas.svg" docs/images/atlas.svg
	echo "atlas: results/reference/atlas is refreshed"
elif ! diff results/reference/atlas/atlas.csv "$out/atlas.csv" >"$out/changed.txt"; then
	head -n 40 "$out/changed.txt"
	echo "atlas: $(grep -c '^>' "$out/changed.txt") rows have changed; if they should have: scripts/atlas.sh refresh," >&2
	echo "atlas: and say why in CHANGELOG.md under \"Results changed\"" >&2
	exit 1
else
	echo "atlas: $(($(wc -l <"$out/atlas.csv") - 1)) graphs as in the reference"
fi
