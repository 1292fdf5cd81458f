#!/usr/bin/env bash
# A real Slurm cluster: munge, slurmctld and three slurmd, each in a namespace of scripts/lab.sh.
# It runs deploy/slurm.sbatch, and trials over hosts whose agents srun starts. Skipped with a
# word where there is no root, no namespace or no Slurm (Debian: slurmctld slurmd slurm-client
# munge).
set -euo pipefail
cd "$(dirname "$0")/.."
skip() { echo "slurm: skipped: $1"; exit 0; }
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" = 0 ] || skip "this needs root"
	if ! command -v slurmctld >/dev/null; then
		{ apt-get update && apt-get install -y --no-install-recommends slurmctld slurmd slurm-client munge; } \
			>/dev/null 2>&1 || skip "Slurm cannot be installed here"
	fi
	exec scripts/lab.sh bash "$PWD/scripts/slurm-trial.sh" inside
fi

# On the machine of bench, whose address is not the loopback, in the folder of the lab.
cp -r deploy configs "$(dirname "$(command -v bench)")"
cd "$(dirname "$(command -v bench)")"
dir=$PWD host=$(hostname -s)
for folder in /etc/munge /etc/slurm /var/log /var/spool; do mount -t tmpfs tmpfs "$folder"; done
mkdir -p /run/munge /run/slurm /var/log/munge /var/spool/slurmctld /var/lib/munge
mungekey --create
chown -R munge: /etc/munge /run/munge /var/log/munge /var/lib/munge
chmod 755 /run/munge
runuser -u munge -- munged --foreground >"$dir/munged.log" 2>&1 &
cat >/etc/slurm/slurm.conf <<C
ClusterName=one
SlurmctldHost=$host(10.77.0.10)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd-%n
SlurmctldPidFile=/run/slurm/ctld.pid
SlurmdPidFile=/run/slurm/%n.pid
ReturnToService=2
SchedulerParameters=sched_interval=1
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
NodeName=host1 NodeHostname=$host NodeAddr=10.77.0.11 CPUs=$(nproc) State=UNKNOWN
NodeName=host2 NodeHostname=$host NodeAddr=10.77.0.12 CPUs=$(nproc) State=UNKNOWN
NodeName=host3 NodeHostname=$host NodeAddr=10.77.0.13 CPUs=$(nproc) State=UNKNOWN
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
for n in 1 2 3; do
	mkdir -p "/var/spool/slurmd-host$n"
	nsenter --net="/run/netns/host$n" unshare --time --monotonic "${n}000" slurmd -D -N "host$n" >"$dir/host$n.log" 2>&1 &
done
within 120 sh -c '[ "$(sinfo -h -N -t idle | wc -l)" = 3 ]'
sinfo --version

# The array of shards.
sh deploy/slurm.sbatch configs/ci.yaml 3
within 300 sh -c '! squeue -h | grep -q .'
cat conclave-*.out
bench run configs/ci.yaml --out whole --quiet >/dev/null
for table in trials operations messages summary; do
	cmp whole/ci/latest/$table.csv results/ci/latest/$table.csv
done
echo "slurm: three shards, merged, are the run in one piece"

# A fleet of the machines of a job, as docs/how-to/recipes.md says. The lab has no ssh: this enters a machine.
cat >enter <<'R'
#!/bin/sh
host=$1
shift
mkdir -p "$PWD/tmp-$host"
TMPDIR=$PWD/tmp-$host exec nsenter --net="/run/netns/$host" "$@"
R
chmod +x enter
salloc --nodes=3 --exclusive --quiet bash -euo pipefail -c '
	scontrol show hostnames | bench fleet up - --ssh ./enter --folder fleet --address 10.77.0.10
	bench run configs/ci.yaml --hub fleet/hub --out joined --quiet
	bench fleet down --folder fleet' >fleet.txt 2>&1 || { cat fleet.txt; exit 1; }
[ "$(grep -c ": joined after" fleet.txt)" = 3 ] || { cat fleet.txt; exit 1; }
for table in trials operations messages summary; do
	cmp whole/ci/latest/$table.csv joined/ci/latest/$table.csv
done
[ -z "$(ls -A tmp-host1 tmp-host2 tmp-host3 | grep bench-fleet)" ]
echo "slurm: a fleet of the machines of a job has the tables of the run in one piece"

# Trials over three hosts, as docs/how-to/clusters.md says.
{
	echo hosts:
	for name in host1 host2 host3; do
		echo "  - {name: $name, interface: eth0, command: srun --nodelist=$name --nodes=1 --ntasks=1 --overlap node agent}"
	done
} >hosts.yaml
cat >srun.yaml <<Y
name: srun
problem: mutex
algorithms: [naimi-trehel]
transport: nats
nodes: 9
network: {latency: 5ms}
scenario: {kind: closed, requests: 400, think: 10ms, hold: 1ms}
repetitions: 1
retries: 100
Y
spread() {
	salloc --nodes=3 --exclusive --quiet bench run srun.yaml --hosts hosts.yaml --progress none --quiet "$@"
}
attempts() { cat failures/srun/*/journal.ndjson 2>/dev/null | grep -c '"status":"invalid"' || true; }
under_way() { # a trial
	until [ "$(pgrep -fc __node)" -ge 9 ]; do
		kill -0 $run || { cat failures.txt; exit 1; }
		sleep 0.1
	done
	sleep 1
}
spread --out failures >failures.txt 2>&1 &
run=$!
for victim in '[^ ]*node agent' '[^ ]*srun .*host2 .*'; do
	under_way
	before=$(attempts)
	kill -KILL "$(pgrep -xfo "$victim")"
	until [ "$(attempts)" -gt "$before" ]; do
		kill -0 $run || { echo "slurm: the trial was not invalid"; cat failures.txt; exit 1; }
		sleep 0.1
	done
	grep -ho '"reason":"[^"]*"' failures/srun/*/journal.ndjson | tail -n 1 | sed "s/^/slurm: killed: /"
done
wait $run || { cat failures.txt; exit 1; }
grep '^naimi-trehel' failures.txt
spread --out killed >/dev/null 2>&1 &
run=$!
under_way
kill -KILL "$(pgrep -xo bench)"
wait $run || true
within 30 sh -c '! pgrep -x node && ! squeue -h | grep -q .'
echo "slurm: trials over hosts that srun reaches: invalid and repeated when it or the agent was killed; nothing is left of a bench that was"
