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
if [ "$1" = runner ]; then # bench is far: a host leads, the trials are the same, and nothing stays behind
	count() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["algorithm"], $at["seed"], $at["messages"], $at["status"] }' "$1/wan/latest/trials.csv"; }
	bench run wan.yaml --hosts hosts.yaml --via host2 --out via --progress none --quiet >/dev/null
	diff <(count wan) <(count via) && echo "relay: led by host2, the trials have the same messages"
	left() { ps -eo args | grep -E '(node|host.test) (agent|host|trial-agent|__)|bench run|__(node|bus|agent)' | grep -v grep || true; }
	for signal in INT KILL; do
		bench run wan.yaml --set repetitions=500 --hosts hosts.yaml --via host2 --out "$signal" --progress none --quiet >/dev/null 2>"$signal.txt" &
		for _ in $(seq 600); do [ -s "$signal/wan/latest/journal.ndjson" ] && break; sleep 0.1; done
		sleep 3
		left | grep -q 'node host' || { echo "relay: host2 does not lead"; left; cat "$signal.txt"; exit 1; }
		kill -$signal $(pgrep -n -f '^bench run')
		wait $! || true
		for _ in $(seq 200); do [ -n "$(left)" ] || break; sleep 0.1; done
		[ -z "$(left)" ] || { echo "relay: left after SIG$signal:"; left; exit 1; }
		echo "relay: after SIG$signal, nothing of a run that host2 leads is left"
	done
	grep -q 'bench run --resume .* --hosts hosts.yaml --via host2' <(tr -s '\n ' ' ' <INT.txt)
fi
[ "$1" = hosts ] || exit 0

# Links that are faster than the clocks can tell: refused before the first trial.
code=0
bench run wan.yaml --set network.latency=4ms --hosts hosts.yaml --out fast --progress none 2>refused.txt || code=$?
sed 's/^/relay: /' refused.txt
[ "$code" = 2 ] || { echo "relay: the run ended with $code, want 2"; exit 1; }
wanted=$(grep -o 'use a latency of [0-9]*ms' refused.txt | grep -o '[0-9]*ms')
bench run wan.yaml --set network.latency="$wanted" --set repetitions=2 --hosts hosts.yaml --out enough --progress none --quiet >/dev/null
echo "relay: with a latency of $wanted, it runs"

# A firewall that drops without a word: one sentence names the host, the port and what to open.
sed '/address: 10/a\    ports: 7000-7002' hosts.yaml >ports.yaml
for from in 10 13; do # bench, and host3
	ip -n host1 route add blackhole 10.77.0.$from/32
	code=0
	bench run wan.yaml --hosts ports.yaml --out dropped --progress none --quiet >/dev/null 2>dropped.txt || code=$?
	ip -n host1 route del blackhole 10.77.0.$from/32
	tr -s ' \n' ' ' <dropped.txt >dropped.line
	[ "$code" = 1 ] && grep -E 'port 700[0-9](:| of host[13]:) open the TCP ports 7000-7002 of host[13], which the hosts file or its worker has chosen' dropped.line >/dev/null ||
		{ cat dropped.txt; echo "relay: a firewall is not named"; exit 1; }
done
echo "relay: a firewall that drops what bench or a host sends is named, with what to open"

# Where a time service knows the clocks better, no trial is refused. The wall clocks here are one, so any promise
# is true.
cat >chronyc <<'C'
#!/bin/sh
echo 0A090001,10.9.0.1,2,1795845096.643528286,-0.000003790,0.000000429,0.000001175,-0.089,0.015,0.495,0.000010410,0.000004618,1.0,Normal
C
chmod +x chronyc
code=0
bench run wan.yaml --set network.latency=4ms --set repetitions=2 --hosts hosts.yaml --out fast --progress none --quiet >/dev/null 2>refused.txt || code=$?
[ "$code" != 2 ] || { cat refused.txt; echo "relay: with chrony, the run was refused"; exit 1; }
bench run wan.yaml --hosts hosts.yaml --out wan --progress none --quiet >/dev/null
figures clock_error_us
grep -q '"clock_source": *"[a-z+]*chrony' wan/wan/latest/manifest.json || { echo "relay: the manifest does not name chrony"; exit 1; }
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["clock_error_us"] > worst { worst = $at["clock_error_us"] }
	{ n += $at["status"] != "ok" }
	END { printf "relay: with chrony, %s of %s trials are not good, and clocks are known to %d us\n", n, NR - 1, worst
		exit n > 0 || worst > 1000 }' wan/wan/latest/trials.csv
