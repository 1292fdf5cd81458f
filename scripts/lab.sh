#!/usr/bin/env bash
# Trials over several machines: four network namespaces on a bridge are a lab of three hosts,
# whose monotonic clocks are hours apart, one of them drifting by 50 ppm, and of the machine that
# runs bench. All of it lives in namespaces of its own, which end with this script, however that
# ends. Skipped with a word where there is no root, no ip (Debian: iproute2) or no time namespace.
#
#   scripts/lab.sh                clocks are what is said of them, every trial has the messages of
#                                 one machine, delays are right, and hosts may fail
#   scripts/lab.sh COMMAND...     runs a command on the machine of bench: bench and node are in
#                                 $PATH, and hosts.yaml is in the folder
#
# With DELAY=2ms, all that a machine sends and gets takes so much longer; with DELAY_runner, DELAY_host1
# and so on, that of one machine.
set -euo pipefail
cd "$(dirname "$0")/.."
skip() { echo "lab: skipped: $1"; exit 0; }
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" = 0 ] || skip "this needs root"
	command -v ip >/dev/null || skip "there is no ip (Debian: iproute2)"
	inner=$(unshare --net --mount --pid --fork --mount-proc unshare --time --monotonic 60 \
		readlink /proc/self/ns/time 2>/dev/null) || skip "no namespaces here"
	[ "$inner" != "$(readlink /proc/self/ns/time)" ] || skip "this kernel gives a clock to children alone"
	unshare --net ip link add lab type bridge 2>/dev/null || skip "no bridges here"
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	go build -o "$dir" ./cmd/bench ./cmd/node
	go test -c -o "$dir/host.test" ./internal/worlds/host # its agents have any clock
	trap - EXIT
	exec unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" inside "$dir" "$@"
fi
mount -t tmpfs tmpfs /run # also for names of namespaces
dir=/run/lab
mv "$2" $dir
shift 2
cd $dir
export PATH="$dir:$PATH"

# The lab: as four machines on a switch.
ip link set lo up
ip link add lab type bridge
ip link set lab up
last=10
for host in runner host1 host2 host3; do
	ip netns add "$host"
	ip link add "to-$host" type veth peer name eth0 netns "$host"
	one=DELAY_$host
	delay=${!one:-${DELAY:-0s}}
	if [ "$delay" = 0s ]; then
		ip link set "to-$host" master lab up
	else
		ip link add "via-$host" type veth peer name "lab-$host"
		ip link set "lab-$host" master lab up
		ip link set "via-$host" up
		ip link set "to-$host" up
		$dir/host.test trial-relay "to-$host" "$delay" "via-$host" "$delay" &
	fi
	ip -n "$host" addr add "10.77.0.$last/24" dev eth0
	ip -n "$host" link set eth0 up
	ip -n "$host" link set lo up
	last=$((last + 1))
done
echo "0s 50" >clock # ahead, and by how many ppm it gains
cat >hosts.yaml <<Y
hosts:
  - name: host1
    address: 10.77.0.11
    command: ip netns exec host1 unshare --time --monotonic 3600 node agent
  - name: host2
    interface: eth0
    command: ip netns exec host2 unshare --time --monotonic 360000 node agent
  - name: host3
    address: 10.77.0.13
    command: ip netns exec host3 env CONCLAVE_TEST_CLOCK=$dir/clock $dir/host.test trial-agent
Y
on_runner() { nsenter --net=/run/netns/runner "$@"; } # and /sys stays
if [ $# -gt 0 ]; then
	on_runner "$@"
	exit
fi
CONCLAVE_LAB=hosts.yaml on_runner host.test -test.run '^TestLab$' -test.v >truth.txt || { cat truth.txt; exit 1; }
sed -n 's/^ *[a-z_]*test.go:[0-9]*: a trial/lab: a trial/p' truth.txt
spread() { on_runner bench run "$@" --hosts hosts.yaml --progress none; }

# Every algorithm whose messages do not depend on timing: all but those that never fall quiet,
# the one that polls, and the one in which two fragments that test a link at one instant both send,
# or one of them, whichever message is first.
algorithms() { # PROBLEM
	bench list | sed -n "s,^  $1/\([a-z-]*\).*,\1,p" | while read -r name; do
		about=$(bench describe "$1/$name")
		[[ $about == *"never falls quiet"* || $name = raynal-original || $name = gallager-humblet-spira ]] || echo "$name"
	done | paste -sd,
}
experiment() { # PROBLEM LATENCY SCENARIO
	cat <<Y
name: $1
problem: $1
algorithms: [$(algorithms "$1")]
transport: nats
nodes: 9
network: {latency: $2}
scenario: $3
repetitions: 1
retries: 50
time_limit: 1m
Y
}
experiment mutex 5ms '{kind: sequential, requests: 9}' >mutex.yaml
experiment election 20ms '{kind: cold-start, initiators: 1}' >election.yaml
for name in mutex election; do
	spread $name.yaml --out spread --quiet >$name.txt || { cat $name.txt; exit 1; }
	bench run $name.yaml --out one --progress none --quiet >/dev/null
	bench run $name.yaml --out simulated --transport sim --progress none --quiet >/dev/null
	for place in one simulated; do
		cmp "spread/$name/latest/messages.csv" "$place/$name/latest/messages.csv"
	done
	echo "lab: $name: $(($(wc -l <spread/$name/latest/trials.csv) - 1)) algorithms, each with 9 processes" \
		"on 3 hosts, have the messages and bytes of one machine and of the simulation"
done
column() { # FILE NAME: of the rows with status ok
	awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["status"] == "ok" { print $at[name] }' "$1"
}
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
late=$(column spread/mutex/latest/trials.csv delay_error_p50_ms | median)
alone=$(column one/mutex/latest/trials.csv delay_error_p50_ms | median)
clocks=$(column spread/mutex/latest/trials.csv clock_error_us | median)
# Three times what the machine does alone in the same minute, where it is busy with other things.
awk -v late="$late" -v alone="$alone" -v clocks="$clocks" 'BEGIN {
	printf "lab: messages are %.0f µs later than due (median), %.0f µs on one machine; clocks are known to %.0f µs\n",
		1000*late, 1000*alone, clocks
	exit !(1000*late <= clocks + (alone > 0.05 ? 3000*alone : 150)) }' || { echo "lab: that is too late"; exit 1; }

# What becomes of a trial whose host fails: invalid, and repeated.
cat >fire.yaml <<Y
name: fire
problem: mutex
algorithms: [naimi-trehel]
transport: nats
nodes: 9
network: {latency: 5ms}
scenario: {kind: closed, requests: 600, think: 10ms, hold: 1ms}
repetitions: 1
retries: 50
time_limit: 1m
Y
spread fire.yaml --out fire --quiet >fire.txt &
run=$!
attempts() { cat fire/fire/*/journal.ndjson 2>/dev/null | grep -c '"status":"'"$1"'"' || true; }
agent() {
	for pid in $(ip netns pids host2); do
		if [ "$( (tr '\0' ' ' <"/proc/$pid/cmdline") 2>/dev/null)" = "node agent " ]; then echo "$pid"; fi
	done
}
under_way() { # the trial after N invalid ones
	until [ "$(attempts invalid)" -ge "$1" ] && [ "$(ip netns pids host2 | wc -l)" -ge 5 ]; do # agent, bus, nodes
		kill -0 $run || { cat fire.txt; exit 1; }
		sleep 0.1
	done
	sleep 1
}
for failure in killed stopped set cut; do
	under_way "$(attempts invalid)"
	before=$(attempts invalid)
	case $failure in
	killed) kill -KILL "$(agent)" ;;
	stopped) kill -STOP "$(agent)" ;;
	set)
		echo "5ms 50" >clock
		kill -USR1 $(ip netns pids host3)
		;;
	cut)
		ip link set to-host2 down
		sleep 4
		ip link set to-host2 up
		;;
	esac
	until [ "$(attempts invalid)" -gt "$before" ]; do
		kill -0 $run || { echo "lab: $failure: the trial was not invalid"; cat fire.txt; exit 1; }
		sleep 0.1
	done
	echo "lab: $failure: $(grep -ho '"reason":"[^"]*"' fire/fire/*/journal.ndjson | tail -n 1)"
done
wait $run || { cat fire.txt; exit 1; }
[ "$(column fire/fire/latest/trials.csv completed)" = 600 ]
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["n"] != 1 { exit 1 }' fire/fire/latest/summary.csv
echo "lab: the trial whose host failed was repeated until it was good, which alone counts"
if ps -A -o args | grep -v grep | grep -E '__node|__bus|node agent|trial-'; then
	echo "lab: these processes are left"
	exit 1
fi
