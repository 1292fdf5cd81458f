#!/bin/bash
# queue-speed.sh [PAIRS]: how much faster two workers with a core each finish a simulated
# sweep than one does. It runs the sweep with one and with two in turn, five times each by
# default, and prints the ratio of each pair, their median, and the load of the machine: with
# fewer than two idle cores, or other work on them, there is nothing to gain. The time is
# that of "bench run --queue", from start to end. All of it is on 127.0.0.1.
set -eu
cd "$(dirname "$0")/.."
pairs=${1:-5}
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
  cp "$BIN/bench" "$BIN/node" "$dir" # what is built already
else
  go build -o "$dir/" ./cmd/bench ./cmd/node
fi
cat > "$dir/speed.yaml" <<'END'
name: speed
problem: election
algorithms: [bully, ring-max]
transport: sim
repetitions: 60
sweep:
  - {vary: nodes, over: [96, 160]}
END
port=$((20000 + RANDOM % 20000))
url=nats://127.0.0.1:$port
"$dir/node" nats -js -sd "$dir/js" -a 127.0.0.1 -p $port > "$dir/nats.log" 2>&1 &
pids+=($!)
# Worker i has core i, if there is a program that sees to it.
pin=
command -v taskset >/dev/null && pin="taskset -c"
sleep 1
now() { date +%s%N; }
measure() { # workers; prints milliseconds
  local these=() i began ended
  for ((i = 0; i < $1; i++)); do
    GOMAXPROCS=1 ${pin:+$pin $i} "$dir/bench" work --join "$url" --machine "w$i" --cores 1 >> "$dir/work.log" 2>&1 &
    these+=($!)
  done
  until [ "$("$dir/bench" workers --join "$url" --wait 200ms | grep -c '^w')" = "$1" ]; do sleep 0.1; done
  began=$(now)
  "$dir/bench" run "$dir/speed.yaml" --queue "$url" --out "$dir/out-$1" --quiet >> "$dir/run.log" 2>&1
  ended=$(now)
  kill "${these[@]}"
  wait "${these[@]}" 2>/dev/null || true
  echo $(((ended - began) / 1000000))
}
for ((k = 1; k <= pairs; k++)); do
  before=$(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo "?")
  one=$(measure 1)
  two=$(measure 2)
  cmp "$dir/out-1/speed/latest/trials.csv" "$dir/out-2/speed/latest/trials.csv"
  awk -v o="$one" -v t="$two" -v b="$before" -v k="$k" 'BEGIN {
    printf "pair %d: one worker %.2f s, two %.2f s: ratio %.2f (load before: %s)\n", k, o/1000, t/1000, o/t, b }' |
    tee -a "$dir/pairs"
done
sed 's/.*ratio \([0-9.]*\).*/\1/' "$dir/pairs" | sort -n | awk '{ r[NR] = $1 } END {
  printf "median ratio of %d pairs: %.2f\n", NR, NR % 2 ? r[(NR+1)/2] : (r[NR/2] + r[NR/2+1]) / 2 }'
