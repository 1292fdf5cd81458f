#!/bin/sh
# How well simulation predicts real processes where handling costs nothing, and where it costs what
# "bench calibrate" finds on this machine: the medians of configs/worlds, side by side.
# Prints Markdown, which docs/explanation/twin.md holds; takes two minutes. With two arguments, the file of a
# calibration and a folder, as absolute paths, it takes those in place of new ones.
set -eu
cd "$(dirname "$0")/.."
out=${2:-$(mktemp -d)}
[ $# -ge 2 ] || trap 'rm -rf "$out"' EXIT
go build -o "$out/bench" ./cmd/bench
costs=${1:-$out/calibration.yaml}
[ $# -ge 1 ] || "$out/bench" calibrate "$costs" --quiet
for name in elections mutexes; do
	file=configs/worlds/$name.yaml
	"$out/bench" run $file --transport sim --out "$out/sim" --quiet >/dev/null
	"$out/bench" run $file --transport sim --set "costs={file: $costs}" --out "$out/twin" --quiet >/dev/null
	[ -d "$out/nats/worlds-$name" ] || "$out/bench" run $file --out "$out/nats" --quiet >/dev/null ||
		[ $? = 5 ] # some trials are invalid: the others count
done
python3 - "$out" <<'EOF'
import csv, statistics, sys
METRICS = {"elections": ["election_ms", "downtime_agreed_ms", "messages_per_election"],
           "mutexes": ["waiting_ms", "throughput_per_s", "messages_per_entry"]}
def medians(world, name, metric):
    cells = {}
    for row in csv.DictReader(open(f"{sys.argv[1]}/{world}/worlds-{name}/latest/trials.csv")):
        if row["status"] == "ok" and row[metric]:
            cells.setdefault((row["label"], row["nodes"]), []).append((float(row[metric]), float(row["busy_share"] or 0)))
    return {cell: [statistics.median(column) for column in zip(*rows)] for cell, rows in cells.items()}
def far(a, b): return f"{100 * (a / b - 1):+.1f} %"
for name, metrics in METRICS.items():
    for metric in metrics:
        plain, twin, real = (medians(world, name, metric) for world in ("sim", "twin", "nats"))
        print(f"**{metric}**\n\n| label | nodes | simulated | with costs | measured | error | with costs | processors busy |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for cell, (r, busy) in real.items():
            s, t = plain[cell][0], twin[cell][0]
            print(f"| {cell[0]} | {cell[1]} | {s:.4g} | {t:.4g} | {r:.4g} | {far(s, r)} | {far(t, r)} | {busy:.0%} |")
        errors = [[abs(w[c][0] / real[c][0] - 1) for c in real] for w in (plain, twin)]
        print("\nlargest error %.1f %%, with costs %.1f %%; mean %.2f %%, with costs %.2f %%\n" % (
            *(100 * max(e) for e in errors), *(100 * statistics.mean(e) for e in errors)))
EOF
