#!/bin/bash
# queue-storm.sh [KILLS [SEED]]: 1000 simulated trials over three workers and a NATS cluster
# of three servers, while workers, the runner and servers are killed at random (SIGKILL, 20
# times by default). Every trial is there exactly once at the end, and the tables are those
# of a run without any of it, byte for byte. All of it is on 127.0.0.1.
#
# HUB=1 has a hub in place of the cluster: workers join it, and it is killed as the servers are.
# PAUSE=1 has some of them stopped for ten seconds instead (SIGSTOP), as a machine that hangs.
# The seed decides who is hit and after how long. If the storm fails, its folder stays: the
# logs of everybody in it, with the goroutines of who did not end.
set -eu
cd "$(dirname "$0")/.."
kills=${1:-20}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
limit=${LIMIT:-600} # seconds that the run may take
echo "storm: seed $seed"
dir=$(mktemp -d)
declare -A pid
over() {
  rc=$?
  trap - EXIT
  if [ "$rc" != 0 ]; then
    for v in run work1 work2 work3 nats1; do kill -QUIT "${pid[$v]-}" 2>/dev/null || true; done
    sleep 1
    [ -n "${HUB-}" ] || "$dir/bench" workers --join "$urls" > "$dir/workers.log" 2>&1 || true
    echo "storm: failed (seed $seed); look into $dir/*.log"
  fi
  for v in "${!pid[@]}"; do kill -9 "${pid[$v]}" 2>/dev/null || true; done
  wait 2>/dev/null || true
  [ "$rc" != 0 ] || rm -rf "$dir"
  exit "$rc"
}
urls=
trap over EXIT
trap 'exit 130' INT TERM
if [ -n "${BIN-}" ]; then
  cp "$BIN/bench" "$BIN/node" "$dir" # what is built already
else
  go build -o "$dir/" ./cmd/bench ./cmd/node
fi
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

base=$((20000 + RANDOM % 20000)) # not of the seed: two storms may run at a time
for i in 0 1 2; do urls=$urls${urls:+,}nats://127.0.0.1:$((base + i)); done
hub() {
  "$dir/bench" hub --folder "$dir/hub" --listen "127.0.0.1:$base" --machines 1000 >> "$dir/line" 2>> "$dir/hub.log" &
  pid[nats1]=$!
}
nats() { # i
  if [ -n "${HUB-}" ]; then hub; return; fi
  routes=
  for j in 0 1 2; do routes=$routes${routes:+,}nats://127.0.0.1:$((base + 10 + j)); done
  "$dir/node" nats -js -sd "$dir/js$1" -n "n$1" -a 127.0.0.1 -p $((base + $1)) --cluster_name storm \
    --cluster nats://127.0.0.1:$((base + 10 + $1)) --routes "$routes" >> "$dir/nats$1.log" 2>&1 &
  pid[nats$1]=$!
}
work() { # i
  if [ -n "${HUB-}" ]; then
    head -1 "$dir/line" | "$dir/bench" join - --machine "w$1" --cores 1 >> "$dir/work$1.log" 2>&1 &
    pid[work$1]=$!
    return
  fi
  "$dir/bench" work --join "$urls" --machine "w$1" --cores 1 >> "$dir/work$1.log" 2>&1 &
  pid[work$1]=$!
}
folder() { ls -d "$dir"/storm-out/storm/2* 2>/dev/null | head -1; }
run() {
  if [ -n "$(folder)" ] && ! grep -q . "$(folder)/journal.ndjson" 2>/dev/null; then
    rm -rf "$dir/storm-out" # it was killed before it began
  fi
  if [ -n "$(folder)" ]; then
    "$dir/bench" run --resume "$(folder)" "$over" "$server" --quiet >> "$dir/run.log" 2>&1 &
  else
    "$dir/bench" run "$dir/storm.yaml" "$over" "$server" --out "$dir/storm-out" --quiet >> "$dir/run.log" 2>&1 &
  fi
  pid[run]=$!
}
whole() { [ -e "$(folder)/manifest.json" ] && grep -q '"complete": true' "$(folder)/manifest.json"; }
log() { echo "$(date +%T) $*" | tee -a "$dir/storm.log"; }
over=--queue server=$urls servers=3
if [ -n "${HUB-}" ]; then over=--hub server=$dir/hub servers=1; fi
if [ -n "${HUB-}" ]; then hub; else for i in 0 1 2; do nats $i; done; fi
for ((k = 0; k < 60; k++)); do # until there is a cluster, or a hub
  sleep 1
  if [ -n "${HUB-}" ]; then grep -q join "$dir/line" && break; continue; fi
  "$dir/bench" workers --join "$urls" --wait 1ms >/dev/null 2>&1 && break
done
run
for i in 1 2 3; do work $i; done
RANDOM=$seed
began=$SECONDS
for ((k = 1; k <= kills; k++)); do
  sleep 0.$((RANDOM % 8 + 2))
  case $((RANDOM % 7)) in
    0) v=run ;;
    1) v=nats$((RANDOM % 3)) && [ "$servers" = 3 ] || v=nats1 ;;
    *) v=work$((RANDOM % 3 + 1)) ;;
  esac
  # Of the first kills, one hits each kind.
  [ $k = 1 ] && v=run
  [ $k = 2 ] && v=nats1
  [ $k = 3 ] && v=work2
  pause=$((RANDOM % 4))
  if [ -n "${PAUSE-}" ] && [ $pause = 0 ]; then
    kill -STOP "${pid[$v]}" 2>/dev/null || true
    log "stopped $v for 10 s"
    sleep 10
    kill -CONT "${pid[$v]}" 2>/dev/null || true
    continue
  fi
  kill -9 "${pid[$v]}" 2>/dev/null || true
  wait "${pid[$v]}" 2>/dev/null || true
  log "killed $v"
  [ "$v" != run ] || ! whole || { log "the run had ended"; break; }
  case $v in
    run) run ;;
    nats*) sleep 0.5; nats "${v#nats}" ;; # one at a time: two of three are a majority
    work*) work "${v#work}" ;;
  esac
done
for try in 1 2 3 4 5; do
  while kill -0 "${pid[run]}" 2>/dev/null; do
    [ $((SECONDS - began)) -lt "$limit" ] || { log "the run does not end within $limit s"; exit 1; }
    sleep 0.2
  done
  wait "${pid[run]}" && break
  log "the run ended with an error: $(tail -1 "$dir/run.log")"
  [ "$try" -lt 5 ] || exit 1
  sleep 1
  run
done
for f in trials operations messages summary; do
  cmp "$(folder)/$f.csv" "$dir"/plain/storm/latest/$f.csv
done
rows=$(($(wc -l < "$(folder)/trials.csv") - 1))
twice=$(cut -d, -f1 "$(folder)/trials.csv" | sort | uniq -d | wc -l)
again=$(cat "$dir"/run.log | grep -c "sent again" || true)
log "storm: $rows trials, $twice twice, tables as without the storm; $((SECONDS - began)) s, queue mended $again times, load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || true)"
[ "$rows" = 1000 ] && [ "$twice" = 0 ]
