#!/bin/bash
# queue-load.sh [WORKERS [TRIALS [RATE]]]: what the runner of a queue and its NATS server cost. It runs so many
# workers (200), which sleep in place of each simulated trial, for that many trials (40000) at that many in
# a second (2000), and prints the processor time of both, per trial and as a share of a core. Then it
# measures how long 1000 blocks take from a runner that is 40 ms away from NATS (round trip), by way of a relay on
# this machine that delays each direction by 20 ms. Linux only; all of it is on 127.0.0.1.
set -eu
cd "$(dirname "$0")/.."
workers=${1:-200}
trials=${2:-40000}
rate=${3:-2000}
dir=$(mktemp -d)
pids=()
over() {
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$dir"
}
trap over EXIT
trap 'exit 130' INT TERM
if [ -n "${BIN-}" ]; then
  cp "$BIN/sleepers" "$BIN/node" "$dir" # what is built already
else
  go build -o "$dir/" ./scripts/sleepers ./cmd/node
fi
experiment() { # name, nodes, repetitions
  cat > "$dir/$1.yaml" <<END2
name: $1
problem: election
algorithms: [bully, ring-list]
transport: sim
network: {latency: {distribution: uniform, min: 1ms, max: 3ms}}
scenario: {kind: leader-crash}
sweep:
  - {vary: nodes, over: $2}
repetitions: $3
END2
}
port=$((20000 + RANDOM % 20000))
url=nats://127.0.0.1:$port
"$dir/node" nats -js -sd "$dir/js" -a 127.0.0.1 -p $port > "$dir/nats.log" 2>&1 &
nats=$!
pids+=($nats)
sleep 1
cpu() { awk '{ print ($14 + $15) * 1000 / '"$(getconf CLK_TCK)"' }' "/proc/$1/stat"; } # in milliseconds
now() { date +%s%N; }
# load measures a run from the first rows in its journal to the last: what comes before and after has nothing
# to do with workers.
load() { # name, trials
  local run size=0 was=0 begun=
  rm -rf "$dir/out"
  CPUPROFILE=${PROFILE:+$PROFILE.$1} "$dir/sleepers" run "$dir/$1.yaml" --queue "$url" --out "$dir/out" --quiet \
    > "$dir/run.log" 2>&1 &
  run=$!
  while kill -0 $run 2>/dev/null; do
    size=$(stat -c %s "$dir/out/$1"/2*/journal.ndjson 2>/dev/null || echo 0)
    if [ "$size" -gt 20000 ] && [ "$size" != "$was" ]; then
      was=$size
      last="$(now) $(cpu $run) $(cpu $nats)"
      begun=${begun:-$last}
    fi
    sleep 0.2
  done
  wait $run || { cat "$dir/run.log"; exit 1; }
  echo "$begun $last $2 $workers $1" | awk '{
    d = ($4 - $1) / 1e9; r = $5 - $2; s = $6 - $3
    printf "%s: %d trials, %d workers: %.1f s, %.0f trials/s; runner %.3f ms a trial, %.2f cores; server %.3f ms, %.2f cores; together %.2f cores\n",
      $9, $7, $8, d, $7 / d, r / $7, r / 1000 / d, s / $7, s / 1000 / d, (r + s) / 1000 / d }'
}
each=$((1000000 * workers / rate))us
"$dir/sleepers" sleep "$url" "$workers" "$each" > "$dir/sleep.log" 2>&1 &
pids+=($!)
sleepers=$!
until [ "$("$dir/sleepers" workers --join "$url" --wait 500ms | grep -c sleeper)" = "$workers" ]; do sleep 0.2; done
experiment short "[3, 4, 5, 6, 7]" $((trials / 10)) # the estimate is a millisecond, and blocks are large
load short "$trials"
experiment long "[96, 160]" $((trials / 8)) # the estimate is longer, and blocks are smaller
load long $((trials / 2))
kill -INT $sleepers
wait $sleepers 2>/dev/null || true

# 1000 blocks, 40 ms away.
far=$((port + 1))
"$dir/sleepers" relay 127.0.0.1:$far 127.0.0.1:$port 20ms &
pids+=($!)
sleep 1
echo "40 ms away: $("$dir/sleepers" send nats://127.0.0.1:$far 1000)"
cut -d' ' -f1-3 /proc/loadavg | sed 's/^/load /'
