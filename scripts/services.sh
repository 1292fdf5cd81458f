#!/bin/bash
# Runs one short trial of each system that people run with each fault of its servers, and of the elections among
# servers, and shows what came of it. After each run it looks whether anything is left: programs, mounts, folders. A
# system that is not installed is skipped with a word; with CI=true that is a failure.
#
#   scripts/services.sh [KILLS [GRAPHS]]    how often a run is killed at a random instant, 5 by default; in how many
#                                           of the graphs of five servers etcd runs, 5 by default, 90 at most
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/services-packages.sh
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
work=$out/go.work
GOWORK=$work go work init "$PWD" "$PWD/systems"
GOWORK=$work go -C systems build -o "$out/bench-systems" ./cmd/bench-systems
bench=$out/bench-systems

# nothing_left PID: of a run by that process there is no program, folder or mount any more.
nothing_left() {
	local mark="conclave-$1-"
	if pgrep -fa "$mark" || mount | grep "$mark" || find /dev/shm "${TMPDIR:-/tmp}" -maxdepth 1 -name "$mark*" | grep .; then
		echo "services: that is left of a run"
		return 1
	fi
}

# run NAME ARGUMENTS...: runs an experiment whose trials must be judged, and shows its table. A machine that is busy
# with other work may spoil trials, which exit code 5 says: then once more.
run() {
	local name=$1 said=$out/$1.said try code
	shift
	for try in 1 2 3; do
		code=0
		"$bench" run "$@" --set name="$name" --out "$out/results" --progress none >"$said" 2>&1 &
		wait $! || code=$?
		nothing_left $!
		[ "$code" = 5 ] || break
	done
	sed -n '/^algorithm /,/^$/p' "$said" | sed "s/^/services: $name: /;/: *$/d"
	if grep -q 'is skipped' "$said"; then
		grep 'is skipped' "$said" | sed 's/^/services: /'
		[ "${CI:-}" != true ] || return 1
	fi
	[ "$code" = 0 ] || { cat "$said"; return 1; }
}

run calm configs/systems/services.yaml --set repetitions=1 --set faults.events='[]'
while read -r name event; do
	run "$name" configs/systems/services.yaml --set repetitions=1 --set "faults.events=[{at: 1500ms, $event}]"
done <<'FAULTS'
leader-crash  do: crash, who: server-leader, for: 2s
leader-pause  do: pause, who: server-leader, for: 2s
leader-cut    do: cut, shape: isolate, who: server-leader, for: 2s
leader-hangs  do: hung-disk, who: server-leader, for: 2s
leader-full   do: full-disk, who: server-leader, for: 2s
leader-slow   do: throttle, share: 0.2, who: server-leader, for: 2s
follower      do: crash, who: server-follower, for: 2s
FAULTS
# The clock of a server's programs is set while they serve. A Java program below libfaketime would take the machine.
run clock configs/systems/clock.yaml --set repetitions=1 --set algorithms='[postgresql, redis, redlock]'

# A disk that hangs until the end does not keep the server from ending. ZooKeeper's others go on without it.
run hangs-on configs/systems/services.yaml --set repetitions=1 --set algorithms='[zookeeper]' \
	--set 'faults.events=[{at: 1500ms, do: hung-disk, who: server-leader}]'
# Two runs at a time: both are good, though slower, and both clean up.
run one configs/systems/services.yaml --set repetitions=1 --set algorithms='[etcd, postgresql]' &
one=$!
run other configs/systems/services.yaml --set repetitions=1 --set algorithms='[etcd, postgresql]' &
other=$!
wait "$one"
wait "$other"

# A client stands still inside for longer than its session. Locks without tokens must be reported, and a late write
# must be refused by the others.
run fencing configs/systems/fencing.yaml --set repetitions=1
python3 - "$out/results/fencing/latest/trials.csv" <<'PYTHON'
import csv, sys
fenced, leased = {"etcd", "zookeeper", "natskv"}, {"redis", "redlock"}
for t in csv.DictReader(open(sys.argv[1])):
    name = t["algorithm"].removeprefix("mutex/")
    print(f"services: fencing: {name}: {t['status']}, several owners for {t['split_ownership_ms']} ms,",
          f"writes refused: {t['writes_refused'] or 'no token, or none late'}")
    split = t["status"] == "violation" and float(t["split_ownership_ms"]) > 0
    if split != (name in fenced | leased) or (t["writes_refused"] == "1") != (name in fenced):
        sys.exit(f"services: fencing: that is not what {name} promises")
PYTHON
run clients configs/systems/clients.yaml --set repetitions=1
run election-etcd configs/systems/etcd-servers.yaml --set repetitions=2

# Five servers of etcd in each of some networks that link cuts can produce, and what happens once the links are back.
"$bench" atlas election/etcd --sample "${2:-5}" --heal --quiet | sed 's/^/services: atlas: /'

# A run that is killed with SIGKILL, at any instant, leaves nothing behind, either.
kills=${1:-5}
for _ in $(seq "$kills"); do
	"$bench" run configs/systems/services.yaml --set repetitions=1 --out "$out/results" --progress none >/dev/null 2>&1 &
	killed=$!
	sleep "$((RANDOM % 12)).$((RANDOM % 10))"
	kill -9 "$killed" 2>/dev/null || true
	wait "$killed" 2>/dev/null || true
	for _ in $(seq 100); do
		nothing_left "$killed" >/dev/null && break
		sleep 0.1
	done
	nothing_left "$killed"
done
echo "services: no program, folder or mount was left, also after $kills SIGKILLs"
