#!/usr/bin/env bash
# A fleet of twenty machines, each a network namespace: from a fresh folder to results in four commands.
# Two hosts are cut off while the fleet ends, which has to be repeated. Then three machines join the hub of a
# run, which spreads its nodes over them, and a machine that is not the hub's runs an experiment.
# Afterwards there is no process, no port and no file that was not there before. Skipped with a word where there is no root or no namespace.
set -euo pipefail
cd "$(dirname "$0")/.."
skip() { echo "fleet: skipped: $1"; exit 0; }
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" = 0 ] || skip "this needs root"
	command -v ip >/dev/null || skip "there is no ip (Debian: iproute2)"
	unshare --net --mount --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces here"
	unshare --net ip link add lab type bridge 2>/dev/null || skip "no bridges here"
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	CGO_ENABLED=0 go build -ldflags "-s -w" -o "$dir" ./cmd/bench
	unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" inside "$dir"
	exit
fi
mount -t tmpfs tmpfs /run # also for names of namespaces
mount -t tmpfs tmpfs /dev/shm # others use that of the machine
dir=$2
cd "$dir"
export PATH="$dir:$PATH" HOME="$dir/home" TMPDIR="$dir/tmp"
unset XDG_STATE_HOME XDG_CACHE_HOME
mkdir -p home/.local/state tmp
ip link set lo up
ip link add lab type bridge
ip link set lab up
last=10
for host in runner $(seq -f host%g 20); do
	ip netns add "$host"
	ip link add "to-$host" type veth peer name eth0 netns "$host"
	ip link set "to-$host" master lab up
	ip -n "$host" addr add "10.77.0.$last/24" dev eth0
	ip -n "$host" link set eth0 up
	ip -n "$host" link set lo up
	last=$((last + 1))
done
# In place of ssh: a shell on a host, which is unreachable when its link is down.
cat >reach <<'R'
#!/bin/sh
ip -n "$1" link show eth0 2>/dev/null | grep -q 'state UP' || { echo "$1: no route to host" >&2; exit 255; }
exec ip netns exec "$@"
R
chmod +x reach
seq -f 'host%g' 20 >hosts.txt
cat >experiment.yaml <<'Y'
name: many
problem: election
algorithms: [bully, ring-list]
transport: sim
network: {latency: {distribution: uniform, min: 1ms, max: 3ms}}
scenario: {kind: leader-crash}
sweep:
  - {vary: nodes, over: [3, 5, 7]}
repetitions: 200
Y
bench run experiment.yaml --out alone --quiet >/dev/null
ip -n runner route add default dev eth0 # its address towards others
on() { # each host has its own locks
	mkdir -p "$dir/tmp/$1"
	TMPDIR=$dir/tmp/$1 nsenter --net=/run/netns/"$@"
}
on_runner() { nsenter --net=/run/netns/runner "$@"; } # and /sys stays

# left WHAT: the processes, the ports of all machines, the files.
left() {
	ps -A -o args= | grep '[b]ench' | sort || true
	for host in runner $(seq -f host%g 20); do
		nsenter --net=/run/netns/$host ss -Hlntu | sed "s/^/$host: /" || true
	done
	find "$dir" -path "$dir/results" -prune -o -path "$dir/alone" -prune -o -print | sort
	find /dev/shm -maxdepth 1 -name 'conclave*' | sort
}
touch before after up.txt run.txt joined.txt
left >before

on_runner bench fleet up hosts.txt --ssh "$dir/reach" --address 10.77.0.10 --price 0.04 >up.txt 2>&1 || { cat up.txt; exit 1; }
echo "fleet: $(grep -c ': joined after' up.txt) machines have joined"
grep '  bench run' up.txt
on_runner bench fleet status | tail -n 4
on_runner bench run experiment.yaml --hub 10.77.0.10:7000 --progress none --quiet >run.txt 2>&1 || { cat run.txt; exit 1; }
for table in trials summary messages operations; do
	cmp "results/many/latest/$table.csv" "alone/many/latest/$table.csv"
done
on_runner bench report results/many >report.txt
echo "fleet: the tables are those of one machine"
rm report.txt

on_runner bench fleet down >down.txt 2>&1 && code=0 || code=$?
[ $code = 0 ] || { cat down.txt; exit 1; }
rm down.txt
left >after
diff before after || { echo "fleet: this is left, or is missing"; exit 1; }
echo "fleet: no process, port or file is left"

# Ended while two machines are cut off, and once more when they are not.
on_runner bench fleet up hosts.txt --ssh "$dir/reach" --address 10.77.0.10 >up.txt 2>&1 || { cat up.txt; exit 1; }
for host in host3 host17; do ip link set "to-$host" down; done
on_runner bench fleet down >down.txt 2>&1 && code=0 || code=$?
[ $code = 1 ] && grep -q "2 of 20 machines could not be cleaned" down.txt || { echo "fleet: exit $code"; cat down.txt; exit 1; }
for host in host3 host17; do ip link set "to-$host" up; done
on_runner bench fleet down >down.txt 2>&1 || { cat down.txt; exit 1; }
rm down.txt
left >after
diff before after || { echo "fleet: this is left, or is missing"; exit 1; }
echo "fleet: machines that were cut off are clean at the second try"

# The hub of a run: three machines join it, and each trial is spread over them.
cat >nodes.yaml <<'Y'
name: nodes
problem: mutex
algorithms: [ricart-agrawala]
nodes: 6
network: {latency: 20ms}
scenario: {kind: sequential, requests: 4}
repetitions: 3
retries: 20
Y
# line FILE: sets invitation to the last word in FILE that is one, as soon as there is one.
line() {
	for _ in $(seq 300); do
		invitation=$(grep -o '[^ ]*:7000#[^ ]*' "$1" | tail -n 1) && return 0
		sleep 0.1
	done
	echo "fleet: no line to join with"
	cat "$1"
	exit 1
}
on_runner bench run nodes.yaml --hub --hosts 3 --progress none >run.txt 2>&1 &
run=$!
line run.txt
joined=()
for i in 1 2 3; do
	on "host$i" bench join - --machine "host$i" --interface eth0 --until-done <<<"$invitation" >>joined.txt 2>&1 &
	joined+=($!)
done
wait $run || { cat run.txt joined.txt; exit 1; }
bench run nodes.yaml --out alone --quiet --transport sim >/dev/null
for run in results alone; do cut -d, -f2- "$run/nodes/latest/messages.csv" | sed 's/,nats,/,sim,/' >"$run.txt"; done
cmp results.txt alone.txt
grep -q ',host1+host2+host3,' results/nodes/latest/trials.csv
rm results.txt alone.txt
echo "fleet: nodes on three machines of the hub of a run sent the messages of the simulation"
for pid in "${joined[@]}"; do wait "$pid" || { cat joined.txt; exit 1; }; done

# A hub on one machine, a runner on another, with a token of use once.
on_runner bench hub --folder hub --machines 2 >run.txt 2>/dev/null &
hub=$!
line run.txt
for i in 1 2; do on "host$i" bench join - --machine "host$i" --until-done <<<"$invitation" >>joined.txt 2>&1 & joined[i]=$!; done
bench hub token --folder hub --runner >run.txt 2>/dev/null
line run.txt
on host20 env HOME="$dir/tmp" bench run experiment.yaml --hub "$invitation" --quiet >run.txt 2>&1 || { cat run.txt joined.txt; exit 1; }
on host20 env HOME="$dir/tmp" bench run experiment.yaml --hub "$invitation" --quiet >run.txt 2>&1 && code=0 || code=$?
[ $code = 2 ] && grep -q "is used up" run.txt || { echo "fleet: a token was of use twice"; cat run.txt; exit 1; }
for table in trials summary messages operations; do cmp "results/many/latest/$table.csv" "alone/many/latest/$table.csv"; done
for i in 1 2; do wait "${joined[i]}" || { cat joined.txt; exit 1; }; done
echo "fleet: a machine that is not the hub's ran an experiment over it, once for each token"

# Packets to it vanish, as behind a firewall: nobody has this address.
ip -n host5 neigh add 10.77.0.99 lladdr 02:00:00:00:00:99 dev eth0
on host5 bench join - --machine host5 <<<"${invitation/0.10:/0.99:}" >run.txt 2>&1 && code=0 || code=$?
[ $code = 2 ] && grep -q "does not answer within 10s" run.txt || { echo "fleet: exit $code"; cat run.txt; exit 1; }
pkill -TERM -f 'bench hub'
wait $hub
rm -rf hub tmp/* tmp/.local nodes.yaml home/.local/state/conclave # what a hub keeps
left >after
sed -i '/nodes.yaml/d' before
diff before after || { echo "fleet: this is left, or is missing"; exit 1; }
echo "fleet: nothing is left of the hubs"
