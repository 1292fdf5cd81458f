#!/bin/sh
# The project's own gate: the reference run of every algorithm in simulation.
#
#   scripts/reference.sh          runs it again and compares: every changed count fails
#   scripts/reference.sh refresh  puts the new run into results/reference; say why in
#                                 CHANGELOG.md under "Results changed"
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if [ -n "${BENCH:-}" ]; then cp "$BENCH" "$out/bench"; else go build -o "$out/bench" ./cmd/bench; fi
for config in configs/reference/*.yaml; do
	name=$(basename "$config" .yaml)
	"$out/bench" run "$config" --out "$out/run" --quiet --progress none >"$out/$name.txt" || {
		cat "$out/$name.txt"
		exit 1
	}
	new="$out/run/reference-$name/latest"
	if [ "${1:-}" = refresh ]; then
		mkdir -p "results/reference/$name"
		for file in trials.csv messages.csv config.resolved.yaml; do
			cp "$new/$file" "results/reference/$name/$file"
		done
		echo "reference: results/reference/$name is refreshed"
	else
		"$out/bench" compare "results/reference/$name" "$new" --strict >"$out/$name.txt" || {
			cat "$out/$name.txt"
			echo "reference: $name: counts have changed; if they should have: scripts/reference.sh refresh," >&2
			echo "reference: and say why in CHANGELOG.md under \"Results changed\"" >&2
			exit 1
		}
		echo "reference: $name: $(tail -1 "$out/$name.txt")"
	fi
done
