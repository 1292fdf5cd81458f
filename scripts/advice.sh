#!/bin/bash
# Is what bench advise advises true? Draws synthetic networks from the seeds 1 to 20, a fourth of them with bursts,
# takes the advice for etcd on each, and estimates with other seeds and a hundred times the trials whether it
# keeps its budget, and whether a setting does that is a fifth faster. It fails unless 19 keep it, and in 15
# nothing faster does. Hours; the last line has the sums.
#
#   scripts/advice.sh [FIRST-LAST]    only those; one may be tried at a time
set -euo pipefail
cd "$(dirname "$0")/.."
CONCLAVE_ADVISE_SEEDS=${1:-1-20} go test -count=1 -timeout 600m -v -run '^TestTruth$' ./internal/commands/advise |
	sed -u 's/^ *truth_test.go:[0-9]*: //'
