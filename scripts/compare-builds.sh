#!/bin/sh
# Compares two builds of bench on one machine, for a gate in CI.
#
#   scripts/compare-builds.sh BASE HEAD CONFIG...
#
# BASE and HEAD are programs. An experiment in simulation runs once with each; one
# on real processes in ROUNDS (3), base first in one and head first in the next, so
# that a machine that grows slower does so for both. The comparison is written to comparison.md; the exit code is 4
# if any of them fails.
set -eu
if [ $# -lt 3 ]; then
	echo "usage: scripts/compare-builds.sh BASE HEAD CONFIG..." >&2
	exit 2
fi
base=$1 head=$2
shift 2
rounds=${ROUNDS:-3}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
: >comparison.md
code=0
for config in "$@"; do
	times=$rounds
	case $("$head" plan "$config" --json) in *'"transport": "sim"'*) times=1 ;; esac
	i=0
	while [ $i -lt "$times" ]; do
		i=$((i + 1))
		order="base head"
		[ $((i % 2)) = 1 ] || order="head base"
		for build in $order; do
			program=$base
			[ $build = head ] && program=$head
			"$program" run "$config" --set seed=$i --out "$out/$build-$i" --quiet >"$out/log" || {
				code=$?
				echo "$build: $config: exit code $code" >&2
				cat "$out/log" >&2
				exit $code
			}
			run=$(echo "$out/$build-$i"/*/latest)
			if [ $i = 1 ]; then
				cp "$run/trials.csv" "$out/$build.csv"
			else
				tail -n +2 "$run/trials.csv" >>"$out/$build.csv"
			fi
		done
	done
	printf '## %s\n\n' "$config" >>comparison.md
	old=$out/base.csv new=$out/head.csv
	if [ "$times" = 1 ]; then # folders tell the kinds of messages, too
		old=$(echo "$out"/base-1/*/latest) new=$(echo "$out"/head-1/*/latest)
	fi
	"$head" compare "$old" "$new" --format markdown >>comparison.md || code=$?
	rm -rf "$out"/base* "$out"/head*
	[ $code = 0 ] || [ $code = 4 ] || exit $code
done
exit $code
