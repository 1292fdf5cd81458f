#!/usr/bin/env bash
# Trials over the machines of workers: a NATS server with TLS on the machine of bench, and a
# worker in each of the three hosts of scripts/lab.sh, two of which have clocks of their own. An
# agent and a worker are killed. Skipped with a word where there is no root or no namespace.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" != inside ]; then
	command -v openssl >/dev/null || { echo "join: skipped: there is no openssl"; exit 0; }
	exec scripts/lab.sh bash "$PWD/scripts/join-trial.sh" inside
fi

# On the machine of bench, in the folder of the lab.
cd "$(dirname "$(command -v bench)")"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out ca.pem -days 2 \
	-subj /CN=nats -addext subjectAltName=IP:10.77.0.10 2>/dev/null
node nats -js -sd nats -a 10.77.0.10 -p 4222 --tls --tlscert ca.pem --tlskey key.pem >nats.log 2>&1 &
url=tls://10.77.0.10:4222
at=(--join "$url" --nats-ca ca.pem)
worker=()
work() { # I: on host I, whose locks are in a folder of its own and whose clock is I hours ahead
	mkdir -p "tmp$1"
	TMPDIR=$PWD/tmp$1 ip netns exec "host$1" unshare --time --monotonic $(($1 * 3600)) \
		bench work "${at[@]}" --machine "host$1" --interface eth0 --ports 7000-7003 >>"work$1.log" 2>&1 &
	worker[$1]=$!
}
for i in 1 2 3; do work $i; done
there() { bench workers "${at[@]}" 2>/dev/null | grep -c 10.77.0.1 || true; }
until [ "$(there)" = 3 ]; do sleep 0.2; done
bench workers "${at[@]}"
cat >spread.yaml <<Y
name: spread
problem: mutex
algorithms: [naimi-trehel, ricart-agrawala]
transport: nats
nodes: 9
network: {latency: 5ms}
scenario: {kind: sequential, requests: 9}
repetitions: 2
retries: 50
Y
bench run spread.yaml --hosts "$url" --nats-ca ca.pem --out spread --progress none
bench run spread.yaml --transport sim --out simulated --quiet >/dev/null
cmp spread/spread/latest/messages.csv simulated/spread/latest/messages.csv
echo "join: messages and bytes are those of the simulation"

# Enough requests that no trial ends before its host fails.
sed -e 's/^name:.*/name: fire/' -e 's/repetitions: 2/repetitions: 1/' -e 's/, ricart-agrawala//' \
	-e 's/^scenario:.*/scenario: {kind: closed, requests: 600, think: 10ms, hold: 1ms}/' spread.yaml >fire.yaml
bench run fire.yaml --hosts "$url" --nats-ca ca.pem --out fire --progress none --quiet >fire.txt 2>&1 &
run=$!
attempts() { cat fire/fire/*/journal.ndjson 2>/dev/null | grep -c '"status":"invalid"' || true; }
process() { # NAME: of host2
	for pid in $(ip netns pids host2); do
		case "$( (tr '\0' ' ' <"/proc/$pid/cmdline") 2>/dev/null)" in *"$1 "*) echo "$pid" && return ;; esac
	done
}
for failure in agent worker cut; do
	before=$(attempts)
	until [ "$(ip netns pids host2 | wc -l)" -ge 6 ]; do # worker, agent, bus, nodes
		kill -0 $run || { cat fire.txt; exit 1; }
		sleep 0.1
	done
	sleep 1
	case $failure in
	cut)
		ip -n host2 link set eth0 down
		sleep 4
		ip -n host2 link set eth0 up
		;;
	agent) kill -KILL "$(process __agent)" ;;
	worker)
		kill -KILL "$(process "bench work")"
		wait "${worker[2]}" 2>/dev/null || true
		;;
	esac
	until [ "$(attempts)" -gt "$before" ]; do
		kill -0 $run || { echo "join: $failure: the trial was not invalid"; cat fire.txt; exit 1; }
		sleep 0.1
	done
	[ $failure != worker ] || work 2
	echo "join: $failure: $(grep -ho '"reason":"[^"]*"' fire/fire/*/journal.ndjson | tail -n 1)"
done
wait $run || { cat fire.txt; exit 1; }
echo "join: the trial whose host failed was repeated until it was good"
