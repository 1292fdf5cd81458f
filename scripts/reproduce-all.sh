#!/bin/sh
# Makes every number and figure of the documents anew. What is simulated comes out
# the same; what was measured on real processes depends on the machine. "git diff"
# shows what is different.
#
#   scripts/reproduce-all.sh          everything: about ten minutes on two idle cores
#   scripts/reproduce-all.sh sim      without the runs on real processes
set -eu
cd "$(dirname "$0")/.."
begun=$(date +%s)
step() { printf '== %s (%ss)\n' "$1" "$(($(date +%s) - begun))"; }

step "docs/reference/algorithms.md: counts, errata, figures"
go run ./scripts/algorithms
step "results/reference: a run of every algorithm"
scripts/reference.sh refresh
scripts/atlas.sh refresh
step "docs/evidence/reproduced.md: published statements"
make -s reproduce
if [ "${1:-}" != sim ]; then
	step "docs/explanation/worlds.md: simulation against sockets"
	new=$(mktemp)
	sed '/^<!-- measured -->$/q' docs/explanation/worlds.md >"$new"
	echo >>"$new"
	scripts/worlds.sh >>"$new"
	mv "$new" docs/explanation/worlds.md
	step "docs/images: screenshots of a report"
	go run ./scripts/screenshots
fi
step "done; what has changed:"
git status --short docs results
