#!/bin/sh
# A Raft that forgets its vote at a restart, of four processes of which at most one is down at a time: a
# rolling restart gives one term two leaders. Every command that judges has to notice: run, explore (in a
# minute), prove (in the shortest form), verify, and a gate over a rolling upgrade, which passes before. Takes a
# minute.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
plugin=plugins/election/raft/raft.go
forget='s/env.Save(Stable{n.term, n.votedFor})/env.Save(Stable{n.term, algo.None})/'
sed "$forget" $plugin >"$dir/raft.go"
! cmp -s $plugin "$dir/raft.go" || { echo "forgetful: $plugin saves its vote elsewhere now"; exit 1; }
printf '{"Replace": {"%s": "%s"}}\n' "$PWD/$plugin" "$dir/raft.go" >"$dir/overlay.json"
go build -overlay "$dir/overlay.json" -o "$dir/bench" ./cmd/bench
cat >"$dir/roll.yaml" <<'YAML'
name: roll
problem: election
algorithms: [raft]
transport: sim
nodes: 4
network: {latency: 1ms}
scenario:
  kind: script
  until: 120ms
  events:
    - {at: 0s, do: cut, links: [[1, 4]]}
    - {at: 0s, do: elect, node: 1}
    - {at: 20ms, do: crash, who: 2, for: 10ms}
    - {at: 50ms, do: crash, who: 3, for: 10ms}
    - {at: 100ms, do: elect, node: 4}
repetitions: 1
YAML
failed=0
# wants NAME CODE TEXT COMMAND...: the command exits with the code and prints the text.
wants() {
	name=$1 code=$2 text=$3 begun=$(date +%s)
	shift 3
	(cd "$dir" && "$@" >"$name.out" 2>&1) && got=0 || got=$?
	took=$(($(date +%s) - begun))
	if [ "$got" = "$code" ] && tr -s '\n ' ' ' <"$dir/$name.out" | grep -q -e "$text"; then
		echo "$name: noticed in ${took}s: $(tr -s '\n ' ' ' <"$dir/$name.out" | grep -o -e "$text" | head -1)"
		return
	fi
	failed=1
	echo "$name: exit code $got after ${took}s, want $code and \"$text\""
	cat "$dir/$name.out"
}
wants run 3 'violation 1' ./bench run roll.yaml --out runs --quiet
wants explore 3 'violation: election/raft: leadership: p[0-9] leads term [0-9]*' \
	./bench explore raft --nodes 4 --time 60s --workers 2 --quiet
wants prove 3 'leads term 1, which p[0-9] led, after 14 events; no schedule is shorter' \
	./bench prove raft --nodes 4 --crashes 2 --workers 2 --memory 4000 --time 10m --quiet
wants verify 3 'violation: leadership: p[0-9] leads term [0-9]*' ./bench verify raft
repo=$dir/repo
git clone -q . "$repo"
(cd "$repo" && go build -o "$dir/plain" ./cmd/bench) # the gate builds head and base from that clone
echo '// It forgets nothing.' >>"$repo/$plugin"
wants gate-before 0 'nothing is worse\|unchanged\|no difference' sh -c "cd repo && ../plain gate --base HEAD ../roll.yaml"
sed "$forget" "$repo/$plugin" >"$dir/mutant.go"
mv "$dir/mutant.go" "$repo/$plugin"
wants gate 3 'p[0-9] leads term [0-9]*' sh -c "cd repo && ../plain gate --base HEAD ../roll.yaml"
exit $failed
