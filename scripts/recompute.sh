#!/usr/bin/env bash
# Runs a few trials of each scenario, most in simulation and some on nodes, and computes their tables anew
# from the traces. Fails if a figure differs.
#
#   scripts/recompute.sh BENCH [flags of bench run]
#
# Nightly, --set repetitions=40 has more of them.
set -euo pipefail
cd "$(dirname "$0")/.."
bench=$(realpath "$1")
shift
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for file in scripts/recompute/*.yaml; do
	"$bench" run "$file" --out "$out" --quiet "$@" >/dev/null 2>"$out/said" || { cat "$out/said"; exit 1; }
done
python3 scripts/recompute "$bench" "$out"/*/latest
