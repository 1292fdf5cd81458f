#!/usr/bin/env bash
# Trials over two machines that ssh reaches: an sshd in each of two namespaces of scripts/lab.sh,
# with keys made here. Skipped with a word where there is no root, no namespace or no sshd
# (Debian: openssh-server).
set -euo pipefail
cd "$(dirname "$0")/.."
skip() { echo "ssh: skipped: $1"; exit 0; }
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" = 0 ] || skip "this needs root"
	if [ ! -x /usr/sbin/sshd ]; then
		{ apt-get update && apt-get install -y --no-install-recommends openssh-server openssh-client; } \
			>/dev/null 2>&1 || skip "sshd cannot be installed here"
	fi
	exec scripts/lab.sh bash "$PWD/scripts/ssh-trial.sh" inside "$PWD/configs/quickstart.yaml"
fi

# On the machine of bench, in the folder of the lab.
cd "$(dirname "$(command -v bench)")"
mkdir -p /run/sshd
ssh-keygen -q -t ed25519 -N '' -f key
ssh-keygen -q -t ed25519 -N '' -f hostkey
cat >sshd_config <<C
HostKey $PWD/hostkey
AuthorizedKeysFile $PWD/key.pub
PasswordAuthentication no
StrictModes no
PidFile none
C
for last in 11 12; do
	ip netns exec "host$((last - 10))" /usr/sbin/sshd -f sshd_config
	echo "10.77.0.$last $(cat hostkey.pub)" >>known_hosts
done
ssh="ssh -i $PWD/key -o UserKnownHostsFile=$PWD/known_hosts -o BatchMode=yes"
cat >hosts.yaml <<Y
hosts:
  - {name: lab1, address: 10.77.0.11, command: $ssh 10.77.0.11 $PWD/node agent}
  - {name: lab2, address: 10.77.0.12, command: $ssh 10.77.0.12 $PWD/node agent}
Y
bench run "$2" --hosts hosts.yaml --set nodes=6 --set repetitions=2 --set retries=50 --progress none
