#!/bin/bash
# queue-storm.sh [KILLS]: 1000 simulated trials over three workers and a NATS cluster of
# three servers, while workers, the runner and servers are killed at random (SIGKILL, 20
# times by default). Every trial is there exactly once at the end, and the tables are those
# of a run without any of it, byte for byte. All of it is on 127.0.0.1.
set -eu
cd "$(dirname "$0")/.."
kills=${1:-20}
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$dir"' EXIT
go build -o "$dir/bench" ./cmd/bench
go build -o "$dir/node" ./cmd/node
cat > "$dir/storm.yaml" <<'END'
name: storm
problem: election
algorithms: [bully, raft]
transport: sim
repetitions: 100
sweep:
  - {vary: nodes, over: [3, 5, 7, 9, 11]}
END
"$dir/bench" run "$dir/storm.yaml" --out "$dir/plain" --quiet >/dev/null

base=$((20000 + RANDOM % 20000))
urls=
for i in 0 1 2; do urls=$urls${urls:+,}nats://127.0.0.1:$((base + i)); done
declare -A pid
nats() { # i
  routes=
  for j in 0 1 2; do routes=$routes${routes:+,}nats://127.0.0.1:$((base + 10 + j)); done
  "$dir/node" nats -js -sd "$dir/js$1" -n "n$1" -a 127.0.0.1 -p $((base + $1)) --cluster_name storm \
    --cluster nats://127.0.0.1:$((base + 10 + $1)) --routes "$routes" >> "$dir/nats$1.log" 2>&1 &
  pid[nats$1]=$!
}
work() { # i
  "$dir/bench" work --join "$urls" --machine "w$1" --cores 1 >> "$dir/work$1.log" 2>&1 &
  pid[work$1]=$!
}
folder() { ls -d "$dir"/storm-out/storm/2* 2>/dev/null | head -1; }
run() {
  if [ -n "$(folder)" ]; then
    "$dir/bench" run --resume "$(folder)" --queue "$urls" --quiet >> "$dir/run.log" 2>&1 &
  else
    "$dir/bench" run "$dir/storm.yaml" --queue "$urls" --out "$dir/storm-out" --quiet >> "$dir/run.log" 2>&1 &
  fi
  pid[run]=$!
}
for i in 0 1 2; do nats $i; done
sleep 3
run
for i in 1 2 3; do work $i; done
for ((k = 1; k <= kills; k++)); do
  sleep 0.$((RANDOM % 8 + 2))
  case $((RANDOM % 7)) in
    0) v=run ;;
    1) v=nats$((RANDOM % 3)) ;;
    *) v=work$((RANDOM % 3 + 1)) ;;
  esac
  # Of the first kills, one hits each kind.
  [ $k = 1 ] && v=run
  [ $k = 2 ] && v=nats1
  [ $k = 3 ] && v=work2
  kill -9 "${pid[$v]}" 2>/dev/null || true
  wait "${pid[$v]}" 2>/dev/null || true
  echo "killed $v"
  [ "$v" != run ] || ! "$dir/bench" compare "$(folder)" "$(folder)" >/dev/null 2>&1 || { echo "the run had ended"; break; }
  case $v in
    run) run ;;
    nats*) sleep 0.5; nats "${v#nats}" ;; # one at a time: two of three are a majority
    work*) work "${v#work}" ;;
  esac
done
for try in 1 2 3 4 5; do
  wait "${pid[run]}" && break
  [ "$try" = 5 ] && { echo "the run does not end well:"; tail -20 "$dir/run.log"; exit 1; }
  run
done
for f in trials operations messages summary; do
  cmp "$(folder)/$f.csv" "$dir"/plain/storm/latest/$f.csv
done
rows=$(($(wc -l < "$(folder)/trials.csv") - 1))
twice=$(cut -d, -f1 "$(folder)/trials.csv" | sort | uniq -d | wc -l)
echo "storm: $rows trials, $twice twice, tables as without the storm"
[ "$rows" = 1000 ] && [ "$twice" = 0 ]
