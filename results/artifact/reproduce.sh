#!/bin/sh
# Runs the experiment again, and compares it with the run that is here: any count that differs, and any
# point of the figure, fails.
#
#   results/artifact/reproduce.sh           in a clone; it takes a second once Go has compiled
#   results/artifact/reproduce.sh refresh   puts the new run, tables and figures here
#
# BENCH names a program that is there already.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
[ -n "${BENCH-}" ] || { go build -o "$out/bench" ../../cmd/bench && BENCH="$out/bench"; }
cp experiment.yaml "$out"
cd "$out" # so that the run names no folder of this machine
"$BENCH" run experiment.yaml --progress none
"$BENCH" paper results/after-a-crash/latest --metrics messages --out paper
if [ "${1-}" = refresh ]; then
	rm -rf "$here/run" "$here/paper"
	cp -R results/after-a-crash/latest/ "$here/run"
	cp -R paper "$here"
	cd "$here"
	rm -f run/.lock
	"$BENCH" export run --format ro-crate --citation CITATION.cff --out run/ro-crate-metadata.json
	exit
fi
"$BENCH" compare "$here/run" results/after-a-crash/latest --metrics all --strict >differences || {
	cat differences
	exit 4
}
for file in paper/plots/*.dat; do # whose comments name the run
	grep -v '^#' "$here/$file" >old
	grep -v '^#' "$file" | cmp old -
done
echo "artifact: the same counts in every trial, and the same figure"
