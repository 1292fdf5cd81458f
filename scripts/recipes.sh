#!/usr/bin/env bash
# The recipes of docs/how-to/recipes.md, as far as one machine has what they are for: GNU parallel, Snakemake and
# Ansible run here, and each ends with the tables of a run in one piece; cloud-init checks its file. Installs the
# packages if it may (Debian: ansible-core cloud-init parallel snakemake). Without them it is skipped with a word,
# but not with CI set.
set -euo pipefail
cd "$(dirname "$0")/.."
needs="ansible-playbook:ansible-core cloud-init:cloud-init parallel:parallel snakemake:snakemake"
missing() { # PREFIX FROM: names what is not installed
	for need in $needs; do
		command -v "${need%:*}" >/dev/null || echo "${need#*:}"
	done
}
if [ -n "$(missing)" ] && [ "$(id -u)" = 0 ] && [ -x /usr/bin/apt-get ]; then
	{ apt-get update && apt-get install -y --no-install-recommends $(missing); } >/dev/null 2>&1 || true
fi
if [ -n "$(missing)" ]; then
	echo "recipes: skipped: install" $(missing) >&2
	[ -z "${CI:-}" ] || exit 1
	exit 0
fi
dir=$(mktemp -d)
left() { # the processes whose program is, or was, in the folder
	for exe in /proc/[0-9]*/exe; do
		case $(readlink "$exe" 2>/dev/null) in "$dir"/*) basename "${exe%/exe}" ;; esac
	done
}
end() {
	code=$?
	left | xargs -r kill -KILL || true
	rm -rf "$dir"
	exit $code
}
trap end EXIT
go build -o "$dir" ./cmd/bench
cp -r configs deploy "$dir"
repository=$PWD
cd "$dir"
export PATH="$dir:$PATH"
bench run configs/ci.yaml --out whole --quiet >/dev/null
same() { # FOLDER HOW
	for table in trials summary messages operations; do
		cmp "whole/ci/latest/$table.csv" "$1/ci/latest/$table.csv"
	done
	echo "recipes: $2: the tables are those of a run in one piece"
}

parallel --will-cite bench run configs/ci.yaml --shard {}/4 --out shards --quiet ::: 1 2 3 4 >/dev/null
bench merge shards/ci --out merged >/dev/null
same merged "GNU parallel"

snake() { snakemake -s deploy/snakemake/Snakefile --cores 2 --config experiment=configs/ci.yaml shards=4 "$@"; }
snake --dry-run >snake.txt 2>&1 || { cat snake.txt; exit 1; }
grep -Eq '^shard +4 ' snake.txt || { cat snake.txt; exit 1; }
snake >snake.txt 2>&1 || { cat snake.txt; exit 1; }
same snakemake-results/results Snakemake
test -s snakemake-results/report.html
snake --dry-run >snake.txt 2>&1
grep -q 'Nothing to be done' snake.txt || { echo "recipes: Snakemake would run finished shards again"; cat snake.txt; exit 1; }

(cd "$repository/deploy/check" && CONCLAVE_USER_DATA="$dir/user-data.yaml" go test -count=1 -run 'TestUserData$' .) >test.txt 2>&1 ||
	{ cat test.txt; exit 1; }
# A file that is wrong is one that the check sees.
sed '/^runcmd:/,$d' user-data.yaml >wrong.yaml
echo 'runcmd: 5' >>wrong.yaml
cloud-init schema --config-file wrong.yaml >schema.txt 2>&1 && { echo "recipes: cloud-init accepts anything"; exit 1; }
cloud-init schema --config-file user-data.yaml >schema.txt 2>&1 || { cat schema.txt; exit 1; }
echo "recipes: cloud-init: $(tail -n 1 schema.txt)"

# Two workers on this machine, in folders of their own, for a hub here.
cat >inventory.ini <<I
[workers]
one conclave_folder=$dir/conclave-ansible-one
two conclave_folder=$dir/conclave-ansible-two
[workers:vars]
ansible_connection=local
ansible_python_interpreter=$(command -v python3)
I
play() { ANSIBLE_HOME="$dir/ansible" ansible-playbook -i inventory.ini deploy/ansible/workers.yml "$@"; }
play --syntax-check >play.txt 2>&1 || { cat play.txt; exit 1; }
bench hub --folder hub --listen 127.0.0.1:0 --address 127.0.0.1 --machines 2 >hub.txt 2>&1 &
hub=$!
for _ in $(seq 100); do grep -q '#' hub.txt && break; sleep 0.1; done
join=$(grep -o '[^ ]*:[0-9]*#[^ ]*' hub.txt | tail -n 1)
play -e "join=$join" -e bench="$dir/bench" >play.txt 2>&1 || { cat play.txt hub.txt; exit 1; }
bench run configs/ci.yaml --hub hub --out ansible --quiet >run.txt 2>&1 || { cat run.txt hub.txt "$dir"/conclave-ansible-*/worker.log; exit 1; }
same ansible Ansible
play -e state=absent >play.txt 2>&1 || { cat play.txt; exit 1; }
kill -INT $hub
wait $hub || true
[ -z "$(left)" ] || { echo "recipes: left of Ansible:"; ps -fp "$(left | paste -sd,)"; exit 1; }
[ ! -e conclave-ansible-one ] && [ ! -e conclave-ansible-two ]
echo "recipes: Ansible: nothing is left of the workers"
