#!/usr/bin/env bash
# Runs deploy/slurm.sbatch on a real Slurm cluster: munge, slurmctld and slurmd of this
# machine, in namespaces of their own, where nothing of them is left behind. Skipped with a
# word where there is no root or no Slurm (Debian: slurmctld slurmd slurm-client munge).
set -euo pipefail
cd "$(dirname "$0")/.."
skip() { echo "slurm: skipped: $1"; exit 0; }
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" = 0 ] || skip "this needs root"
	if ! command -v slurmctld >/dev/null; then
		{ apt-get update && apt-get install -y --no-install-recommends slurmctld slurmd slurm-client munge; } \
			>/dev/null 2>&1 || skip "Slurm cannot be installed here"
	fi
	unshare --net --mount --pid --fork true 2>/dev/null || skip "no namespaces here"
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	go build -o "$dir/bench" ./cmd/bench
	cp -r deploy configs "$dir/"
	unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" inside "$dir"
	exit
fi

# Slurm's tools want an address that is not the loopback.
ip link set lo up
ip link add conclave0 type veth peer name conclave1
ip addr add 10.66.0.1/24 dev conclave0
ip link set conclave0 up
ip link set conclave1 up
dir=$2 host=$(hostname -s)
for folder in /etc/munge /etc/slurm /run /var/log /var/spool; do mount -t tmpfs tmpfs "$folder"; done
mkdir -p /run/munge /run/slurm /var/log/munge /var/spool/slurmd /var/spool/slurmctld /var/lib/munge
mungekey --create
chown -R munge: /etc/munge /run/munge /var/log/munge /var/lib/munge
chmod 755 /run/munge
runuser -u munge -- munged --foreground >"$dir/munged.log" 2>&1 &
cat >/etc/slurm/slurm.conf <<C
ClusterName=one
SlurmctldHost=$host(10.66.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurm/ctld.pid
SlurmdPidFile=/run/slurm/d.pid
ReturnToService=2
SchedulerParameters=sched_interval=1
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
NodeName=$host NodeAddr=10.66.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
C
within() { # SECONDS COMMAND...: until the command succeeds
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || { echo "slurm: not in time: $*"; tail -n 20 "$dir"/*.log; exit 1; }
		sleep 0.5
	done
}
within 60 sh -c 'munge -n | unmunge'
slurmctld -D -i >"$dir/ctld.log" 2>&1 &
slurmd -D -N "$host" >"$dir/d.log" 2>&1 &
within 120 sh -c 'sinfo -h | grep -q idle'
cd "$dir"
sinfo --version
sh deploy/slurm.sbatch configs/ci.yaml 3
within 300 sh -c '! squeue -h | grep -q .'
cat conclave-*.out
./bench run configs/ci.yaml --out whole --quiet >/dev/null
for table in trials operations messages summary; do
	cmp whole/ci/latest/$table.csv results/ci/latest/$table.csv
done
echo "slurm: three shards, merged, are the run in one piece"
