#!/usr/bin/env bash
# A real network between three hosts, as far as one machine has one: three network namespaces and that of
# bench on a switch that delays each frame by where it comes from and where it goes to: 1, 5 and 40 ms, and
# 10 % more on the way back. bench measures it with network: {real: true}. The matrix must be true within its
# own bounds, and the simulator must predict from it what the run took. Skipped with a word where there is no
# root, no ip (Debian: iproute2) or no namespaces.
#
#   scripts/real-network.sh               the test
#   scripts/real-network.sh COMMAND...    runs a command on the machine of bench, with bench in $PATH and
#                                         hosts.yaml in the folder
set -euo pipefail
cd "$(dirname "$0")/.."
skip() { echo "real network: skipped: $1"; exit 0; }
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" = 0 ] || skip "this needs root"
	command -v ip >/dev/null || skip "there is no ip (Debian: iproute2)"
	unshare --net --mount --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces here"
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	go build -o "$dir" ./cmd/bench ./cmd/node ./internal/repo/relay
	trap - EXIT
	exec unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" inside "$dir" "$@"
fi
mount -t tmpfs tmpfs /run # also for names of namespaces
dir=/run/lab
mv "$2" $dir
shift 2
cd $dir
export PATH="$dir:$PATH"
ip link set lo up
last=10
for host in runner host1 host2 host3; do
	ip netns add "$host"
	ip link add "to-$host" type veth peer name eth0 netns "$host"
	ip link set "to-$host" up
	ip -n "$host" addr add "10.77.0.$last/24" dev eth0
	ip -n "$host" link set eth0 up
	ip -n "$host" link set lo up
	ip netns exec "$host" relay off eth0
	last=$((last + 1))
done
way() { printf 'to-%s to-%s %s\nto-%s to-%s %s\n' "$1" "$2" "$3" "$2" "$1" "$4"; }
{
	way host1 host2 1ms 1.1ms
	way host1 host3 5ms 5.5ms
	way host2 host3 40ms 44ms
	for host in host1 host2 host3; do way runner $host 200us 220us; done
} >delays
relay to-runner to-host1 to-host2 to-host3 <delays >relay.txt &
until grep -q ready relay.txt; do sleep 0.1; done
{
	echo hosts:
	for i in 1 2 3; do
		printf '  - {name: host%s, address: 10.77.0.1%s, command: "ip netns exec host%s unshare --time --monotonic %s node agent"}\n' \
			$i $i $i $((i * 36000))
	done
} >hosts.yaml
on_runner() { nsenter --net=/run/netns/runner "$@"; }
if [ $# -gt 0 ]; then
	on_runner "$@"
	exit
fi
cat >real.yaml <<Y
name: real
problem: election
algorithms: [{name: bully, params: {t_answer: 200ms, t_coordinator: 300ms}}]
transport: nats
nodes: 6
network: {real: true, at_most: 50ms}
scenario: {kind: leader-crash}
repetitions: 10
retries: 50
Y
on_runner bench run real.yaml --hosts hosts.yaml --progress none --quiet >real.txt || { cat real.txt; exit 1; }
# Every ordered pair has a row with delays in each phase. The least delay is that of the network, but for what
# the clocks are wrong by: the bound of the row also covers what the relay and the servers of the bus take.
awk -F, '
	FILENAME == "delays" { split($0, w, " "); sub("to-", "", w[1]); sub("to-", "", w[2])
		truth[w[1] " " w[2]] = w[3] ~ /us/ ? w[3] / 1000 : w[3] + 0; next }
	FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["from_host"] != $at["to_host"] {
		way = $at["from_host"] " " $at["to_host"]; rows++
		if ($at["min_ms"] == "") { print "real network: " $at["phase"] " " way ": " $at["state"]; next }
		measured++
		off = $at["min_ms"] - truth[way]; if (off < 0) off = -off
		good = off <= $at["clock_error_ms"]
		within += good
		printf "real network: %-6s %s: %6.2f ms, true %5.2f, clocks %.2f (p50 %.2f, p99 %.2f; %s of %s lost; %s)\n",
			$at["phase"], way, $at["min_ms"], truth[way], $at["clock_error_ms"], $at["p50_ms"], $at["p99_ms"],
			$at["lost"], $at["sent"], $at["state"] }
	END { printf "real network: %d of %d delays are true within their bounds\n", within, measured
		exit !(rows == 18 && measured == 18 && within >= 0.95 * rows) }' delays results/real/latest/links.csv || {
	awk 1 results/real/latest/links.csv | cut -c1-150; exit 1; }
sed -e 's/^transport: .*/transport: sim/' -e 's/^name: .*/name: replay/' \
	-e 's|^network: .*|network: {recorded: {run: results/real}, at_most: 50ms}|' real.yaml >replay.yaml
on_runner bench run replay.yaml --progress none --quiet >replay.txt || { cat replay.txt; exit 1; }
median() { # RUN
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["metric"] == "downtime_ms" { print $at["median"] }' "results/$1/latest/summary.csv"
}
awk -v real="$(median real)" -v replay="$(median replay)" 'BEGIN {
	off = replay / real - 1
	printf "real network: bully is without a leader for %.1f ms (median), %.1f ms where the simulator replays the network: %+.1f %%\n",
		real, replay, 100 * off
	exit !(off <= 0.05 && off >= -0.05) }'
on_runner bench twin results/real
