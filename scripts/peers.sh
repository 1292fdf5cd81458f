#!/bin/sh
# Compares the event loops of other tools with the simulator: how many entries they do in a second, with
# the same algorithms, processes and messages.
#
#   scripts/peers.sh [BENCH]
#
# BENCH is the program, bench by default. ROUNDS (3) times each loop runs ricart-agrawala and lamport with NODES
# (10) processes, all loops in turn, so that a machine that is busy for a while is so for all. The table has the median of the rounds.
# SHARE (1) divides the work, for a trial of the script.
# A loop that does another number of messages than 2(N-1) or 3(N-1) for an entry ends it with 1.
#
#   DistAlgo   itself, where DISTALGO is a clone of github.com/DistAlgo/distalgo, on Python 3.7 or later
#   DistAlgo's loop, ported: scripts/peers/distalgo_loop.py
#   SimPy      itself, where python3 can import it (Debian: python3-simpy3)
#   a heap     of events in Python: all that SimPy's loop needs
#   rounds     in Java, as JBotSim's clock has them
#   bench run  with one worker: simulated, recorded and judged; its time is that of the whole command
#
# DistAlgo and its port run a process of the operating system for each process, over sockets. The others are simulations.
set -eu
bench=${1:-bench}
python=${PYTHON:-python3}
rounds=${ROUNDS:-3} nodes=${NODES:-10} share=${SHARE:-1}
peers=$(cd "$(dirname "$0")" && pwd)/peers
export PYTHONDONTWRITEBYTECODE=1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
command -v "$bench" >/dev/null || { echo "no program $bench: go build -o bench ./cmd/bench, then scripts/peers.sh ./bench" >&2; exit 2; }
loops="bench heap"
if command -v "$python" >/dev/null; then
	loops="$loops distalgo_loop"
	if "$python" -c 'import simpy' 2>/dev/null; then loops="$loops simpy"; else echo "SimPy is left out: $python cannot import it"; fi
	if [ -n "${DISTALGO:-}" ]; then loops="$loops distalgo"; else echo "DistAlgo is left out: DISTALGO names no clone of it"; fi
else
	loops="bench"
	echo "DistAlgo, its port, SimPy and the heap are left out: there is no $python"
fi
if command -v javac >/dev/null && command -v java >/dev/null; then
	javac -d "$out" "$peers/Loop.java"
	loops="$loops java"
else
	echo "the rounds in Java are left out: there is no javac, or no java"
fi

# entries is how many a loop does in a run, a few seconds of work or less.
entries() {
	case $1 in
	bench) each=20000 ;;
	java) each=200000 ;;
	heap) each=4000 ;;
	simpy) each=500 ;;
	distalgo_loop) each=200 ;;
	distalgo) each=40 ;;
	esac
	echo $((nodes * ((each + share - 1) / share)))
}

# once runs a loop and prints entries, messages, and seconds.
once() {
	count=$(entries "$1")
	case $1 in
	heap | distalgo_loop) "$python" "$peers/$1.py" "$2" "$nodes" "$count" ;;
	simpy) "$python" "$peers/simpy_loop.py" "$2" "$nodes" "$count" ;;
	java) java -cp "$out" Loop "$2" "$nodes" "$count" ;;
	distalgo)
		program=$peers/ricart_agrawala.da
		[ "$2" = ricart-agrawala ] || program=$DISTALGO/da/examples/lamutex/orig.da
		rm -rf "$out/da"
		mkdir -p "$out/da" && cp "$program" "$out/da/program.da"
		for _ in 1 2 3; do # now and then its processes wait for each other for ever
			timeout 60 "$python" "$peers/distalgo_run.py" "$out/da/program.da" "$nodes" $((count / nodes)) 2>/dev/null |
				tail -1 | grep -E '^[0-9]+ [0-9]+ [0-9.]+$' && return
		done
		echo "DistAlgo has not ended three times" >&2
		return 1
		;;
	bench)
		rm -rf "$out/run"
		start=$(date +%s.%N)
		"$bench" run --algorithms "mutex/$2" --nodes "$nodes" --transport sim --workers 1 --quiet --out "$out/run" \
			--set scenario="{kind: closed, requests: $((count / 10)), think: 1ms, hold: 1ms}" \
			--set network.latency=1ms --set repetitions=10 --set time_limit=24h >"$out/log" || { cat "$out/log" >&2; return 1; }
		end=$(date +%s.%N)
		awk -F, -v start="$start" -v end="$end" '
			NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			{ entries += $at["completed"]; messages += $at["messages"] }
			END { print entries, messages, end - start }' "$out"/run/*/latest/trials.csv
		;;
	esac
}

round=0
while [ $round -lt "$rounds" ]; do
	round=$((round + 1))
	for algorithm in ricart-agrawala lamport; do
		for loop in $loops; do
			line=$(once "$loop" "$algorithm") || exit 1
			echo "$algorithm $loop $line" >>"$out/table"
		done
	done
done
echo "$(uname -sm), $(getconf _NPROCESSORS_ONLN) processors, $(date -u +%Y-%m-%d); $nodes processes, median of $rounds rounds"
sort -k1,1r -k2,2 "$out/table" | awk -v nodes="$nodes" '
	function flush(  i, j, t) {
		if (n == 0) return
		for (i = 2; i <= n; i++) for (j = i; j > 1 && rate[j] < rate[j - 1]; j--) { t = rate[j]; rate[j] = rate[j - 1]; rate[j - 1] = t }
		median[key] = n % 2 ? rate[(n + 1) / 2] : (rate[n / 2] + rate[n / 2 + 1]) / 2
		order[++keys] = key; n = 0
	}
	BEGIN {
		name["bench"] = "bench run, judged"; name["heap"] = "a heap in Python"; name["simpy"] = "SimPy"
		name["distalgo"] = "DistAlgo"; name["distalgo_loop"] = "DistAlgo, its loop ported"; name["java"] = "rounds in Java"
	}
	{
		want = ($1 == "lamport" ? 3 : 2) * (nodes - 1)
		if ($4 != want * $3) { printf "%s, %s: %d messages for %d entries, want %d for each\n", name[$2], $1, $4, $3, want; wrong = 1 }
		if ($1 " " $2 != key) { flush(); key = $1 " " $2 }
		each[key] = want; rate[++n] = $3 / $5
	}
	END {
		flush()
		printf "%-16s %-26s %14s %14s %14s\n", "algorithm", "loop", "messages/entry", "entries/s", "of bench"
		for (i = 1; i <= keys; i++) {
			split(order[i], k, " ")
			printf "%-16s %-26s %14d %14.0f %14.4g\n", k[1], name[k[2]], each[order[i]], median[order[i]], median[order[i]] / median[k[1] " bench"]
		}
		exit wrong
	}'
