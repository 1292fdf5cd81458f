#!/usr/bin/env bash
# Trials over hosts that are far from each other, or from bench: those of scripts/lab.sh, behind relays.
# Skipped with a word where there is no root or no namespace.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
"") # between any two machines, a message and its answer take 5 ms; or only bench is 4 ms away
	DELAY=1250us scripts/lab.sh bash "$PWD/scripts/relay-trial.sh" hosts
	DELAY_runner=2ms exec scripts/lab.sh bash "$PWD/scripts/relay-trial.sh" runner
	;;
esac
cd "$(dirname "$(command -v bench)")"
cat >wan.yaml <<Y
name: wan
problem: election
algorithms: [bully, ring-list]
transport: nats
nodes: 6
network: {latency: 20ms}
scenario: {kind: leader-crash}
repetitions: 8
retries: 2
Y
figures() { # NAME...: the least and the most of columns of the trials
	awk -F, -v names="$*" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ split(names, list, " "); for (k in list) { v = $at[list[k]]
			if (v == "") continue
			if (!(list[k] in low) || v < low[list[k]]) low[list[k]] = v
			if (!(list[k] in high) || v > high[list[k]]) high[list[k]] = v } }
		END { for (k in low) printf "relay: %s from %s to %s\n", k, low[k], high[k] }' wan/wan/latest/trials.csv
}
bench run wan.yaml --hosts hosts.yaml --out wan --progress none | sed 's/^/relay: /'
bench run wan.yaml --transport sim --out simulated --quiet >/dev/null
figures clock_error_us
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ n += $at["status"] != "ok"; more += $at["attempts"] != 1 }
	END { printf "relay: %s of %s trials are not good; %s were run again\n", n, NR - 1, more; exit n > 0 }' wan/wan/latest/trials.csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["metric"] == "downtime_ms" {
	printf "relay: %s: downtime %s ms [%s, %s]\n", $at["algorithm"], $at["median"], $at["ci_low"], $at["ci_high"] }' \
	wan/wan/latest/summary.csv
[ "$1" = hosts ] || exit 0

# Links that are faster than the clocks can tell: refused before the first trial.
code=0
bench run wan.yaml --set network.latency=4ms --hosts hosts.yaml --out fast --progress none 2>refused.txt || code=$?
sed 's/^/relay: /' refused.txt
[ "$code" = 2 ] || { echo "relay: the run ended with $code, want 2"; exit 1; }
wanted=$(grep -o 'use a latency of [0-9]*ms' refused.txt | grep -o '[0-9]*ms')
bench run wan.yaml --set network.latency="$wanted" --set repetitions=2 --hosts hosts.yaml --out enough --progress none --quiet >/dev/null
echo "relay: with a latency of $wanted, it runs"
