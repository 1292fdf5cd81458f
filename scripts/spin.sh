#!/bin/bash
# How fast bench prove is beside SPIN: states per second of processor time, with one worker, of the same
# algorithms; and whether both count the same states. Needs spin and gcc (Debian's packages). Prints a table,
# which docs/evidence/search.md holds; takes half a minute of an idle machine. Fails if counts differ that
# should not, if prove has less than a third of SPIN's speed, or takes more than 40 bytes for each of
# many states.
set -euo pipefail
cd "$(dirname "$0")/.."
models=$PWD/scripts/spin
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/bench" ./cmd/bench
cd "$dir"
failed=0
TIMEFORMAT='%U %S'
# cpu COMMAND...: the seconds of processor time of five runs, and what the last printed in the file out.
cpu() {
	{ time for _ in 1 2 3 4 5; do "$@" >out 2>&1 || { cat out >&2; exit 1; }; done; } 2>&1 |
		awk '{print $1 + $2}'
}
# fact NAME: a fact of the answer of bench prove.
fact() { sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" out | head -1; }
echo '| algorithm | states of prove | states of SPIN | prove, states/s | SPIN, states/s | prove, bytes/state | SPIN, bytes/state |'
echo '|---|---:|---:|---:|---:|---:|---:|'
# row NAME MODEL EQUAL FLAGS...: EQUAL says whether both must count the same states.
row() {
	local name=$1 model=$2 equal=$3 states spent spin_states spin_spent bytes
	shift 3
	spin -a "$model" >spin.log 2>&1 && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c 2>gcc.log
	spin_spent=$(cpu ./pan -m1000000 -w24 -E)
	grep -q 'errors: 0' out || { cat out; exit 1; }
	spin_states=$(awk '/states, stored/ {print $1}' out)
	spin_bytes=$(awk '/actual memory usage for states/ {print $1 * 1048576}' out)
	spent=$(cpu ./bench prove "$@" --live=false --workers 1 --quiet --json)
	states=$(fact states) bytes=$(fact bytes_per_state)
	awk -v n="$name" -v a="$states" -v b="$spin_states" -v s="$spent" -v t="$spin_spent" -v m="$bytes" \
		-v k="$spin_bytes" -v equal="$equal" 'BEGIN {
		x = 5 * a / s; y = 5 * b / t
		printf "| %s | %d | %d | %.0f 000 | %.0f 000 | %.0f | %.0f |\n", n, a, b, x / 1000, y / 1000, m, k / b
		exit (equal == "equal" && a != b) || 3 * x < y || a > 100000 && m > 40
	}' || failed=1
}
# Channels that are sorted, and variables that are reset when they are of no use any more.
sed -E -e 's/!req\(/!!req(/g; s/!rep\(/!!rep(/g; s/ fi \}$/ fi; k = 0; t = 0 }/; s/ od \}$/ od; j = 0 }/' \
	"$models/ra.pml" >sorted.pml
row 'Ricart and Agrawala, 3 processes, 2 requests' "$models/ra.pml" other ricart-agrawala --canonical=false
row 'the same, canonical states' sorted.pml other ricart-agrawala
row 'Raymond, 5 processes, 3 requests' "$models/raymond.pml" equal raymond --nodes 5 --requests 3
row 'Dolev, Klawe and Rodeh, 8 processes' "$models/dkr.pml" equal dolev-klawe-rodeh --nodes 8 --requests 8
exit $failed
