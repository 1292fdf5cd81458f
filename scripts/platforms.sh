#!/bin/sh
# Compares what bench for linux/arm64, which qemu runs here, simulates with what this machine's build does:
#
#   scripts/platforms.sh [PATTERN]
#
# Every experiment of configs/, or those whose path has PATTERN in it, has to give the same tables (see --platforms in
# scripts/same.py). Then each platform runs one shard of an experiment, and this one merges both; a worker of
# linux/arm64 does the trials of a run in a queue; and one with another program joins a hub, which hands out that of
# its release archive for linux/arm64. All programs are built from one commit of the working tree. Needs
# Linux 6.7, for a table of foreign programs of its own.
set -eu
cd "$(dirname "$0")/.."
missing() {
	echo "platforms: skipped: $1" >&2
	[ -z "${CI:-}" ] || exit 1
	exit 0
}
if [ -z "${PLATFORMS_INSIDE:-}" ]; then
	if ! command -v qemu-aarch64-static python3 >/dev/null && [ "$(id -u)" = 0 ] && [ -x /usr/bin/apt-get ]; then
		{ apt-get update && apt-get install -y --no-install-recommends qemu-user-static python3; } >/dev/null 2>&1 || true
	fi
	for program in qemu-aarch64-static python3 unshare; do
		command -v "$program" >/dev/null || missing "$program is not installed"
	done
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	unshare -Urm mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc 2>/dev/null ||
		missing "this kernel gives no user namespace a table of foreign programs (Linux 6.7)"
	tree=$(GIT_INDEX_FILE="$work/index" sh -c 'git add -A && git write-tree')
	commit=$(git -c user.name=platforms -c user.email=platforms@localhost commit-tree -m platforms "$tree")
	git clone -q -s -n . "$work/src"
	(
		cd "$work/src"
		git checkout -q "$commit"
		export CGO_ENABLED=0
		GOARCH=arm64 go build -trimpath -buildvcs=true -o "$work/arm64" ./cmd/bench
		go build -trimpath -buildvcs=true -o "$work/here" ./cmd/bench
		go build -trimpath -buildvcs=true -o "$work/node" ./cmd/node
	)
	code=0
	PLATFORMS_INSIDE="$work" unshare -Urm sh scripts/platforms.sh "$@" || code=$?
	exit "$code"
fi
work=$PLATFORMS_INSIDE
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":conclave-arm64:M::$magic:$mask:$(command -v qemu-aarch64-static):F" >/proc/sys/fs/binfmt_misc/register
"$work/arm64" version
python3 scripts/same.py --platforms --only "${1:-}" "$work/here" "$work/arm64"

run() {
	"$@" --transport sim --set repetitions=4 --quiet
}
run "$work/here" run configs/loss.yaml --out "$work/whole"
run "$work/here" run configs/loss.yaml --out "$work/parts" --shard 1/2
run "$work/arm64" run configs/loss.yaml --out "$work/parts" --shard 2/2
"$work/here" merge "$work/parts/loss" --out "$work/merged" --notes
for table in trials summary messages operations; do
	cmp "$work"/whole/loss/2*/$table.csv "$work"/merged/loss/2*/$table.csv
done
url=nats://127.0.0.1:$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$work/node" nats -a 127.0.0.1 -p "${url##*:}" -js -sd "$work/nats" >"$work/nats.log" 2>&1 &
servers=$!
"$work/arm64" work --join "$url" --machine arm64 >"$work/worker.log" 2>&1 &
servers="$servers $!"
trap 'kill $servers 2>/dev/null; wait' EXIT
for try in 1 2 3 4 5 6 7 8 9 10; do # the server may not be there at once
	if ! kill -0 "${servers##* }" 2>/dev/null; then
		"$work/arm64" work --join "$url" --machine arm64 >"$work/worker.log" 2>&1 &
		servers="${servers%% *} $!"
	fi
	! "$work/here" workers --join "$url" 2>/dev/null | grep 'arm64.*(this)' || break
	[ "$try" != 10 ] || { cat "$work/nats.log" "$work/worker.log" >&2; exit 1; }
	sleep 1
done
run "$work/here" run configs/loss.yaml --out "$work/queued" --queue "$url"
for table in trials summary messages operations; do
	cmp "$work"/whole/loss/2*/$table.csv "$work"/queued/loss/2*/$table.csv
done
echo "platforms: the shards of two platforms, merged, and the trials of a foreign worker equal the run in one piece"

# The program of the machine that joins is not that of the hub: it has a byte more.
mkdir "$work/release" "$work/other" "$work/tmp"
cp "$work/arm64" "$work/other/bench"
tar -C "$work/other" -czf "$work/release/conclave-v0.0.0-linux-arm64.tar.gz" bench
printf x >>"$work/other/bench"
"$work/here" hub --folder "$work/hub" --listen 127.0.0.1:0 --address 127.0.0.1 --programs "$work/release" >"$work/hub.log" 2>&1 &
servers="$servers $!"
for try in 1 2 3 4 5 6 7 8 9 10; do
	! grep -q '#' "$work/hub.log" || break
	sleep 1
done
join=$(grep -o '[^ ]*:[0-9]*#[^ ]*' "$work/hub.log" | tail -n 1)
TMPDIR="$work/tmp" "$work/other/bench" join "$join" --machine arm64 --until-done >"$work/join.log" 2>&1 &
joined=$!
run "$work/here" run configs/loss.yaml --out "$work/joined" --hub "$work/hub" || { cat "$work/hub.log" "$work/join.log" >&2; exit 1; }
wait $joined || { cat "$work/join.log" >&2; exit 1; }
grep -q 'the hub has another program' "$work/join.log" || { cat "$work/join.log" >&2; exit 1; }
for table in trials summary messages operations; do
	cmp "$work"/whole/loss/2*/$table.csv "$work"/joined/loss/2*/$table.csv
done
echo "platforms: a machine of linux/arm64 has worked for a hub with the program of the release archive"
