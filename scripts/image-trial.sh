#!/usr/bin/env bash
# Runs what deploy/image.sh puts into the image, with nothing else around it: real nodes and a
# simulation, in a root folder of their own, for the user that the image is for. Skipped with
# a word where that takes rights.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
namespaces="--map-user=65532 --map-group=65532 -m -p -f"
unshare $namespaces true 2>/dev/null || { echo "image: skipped: no namespaces here"; exit 0; }
sh deploy/image.sh --rootfs "$dir/tree"
mkdir "$dir/tree/results"
cp configs/quickstart.yaml "$dir/tree/experiment.yaml"
within() { unshare $namespaces --root="$dir/tree" --mount-proc=/proc --wd=/ "$@"; }
within /node --help 2>/dev/null
within /bench run /experiment.yaml --transport sim --set repetitions=2 --shard 1/1 --out /results --quiet
within /bench merge /results/quickstart --out /results >/dev/null
# A machine that does other work besides may spoil trials (exit code 5).
within /bench run /experiment.yaml --set repetitions=1 --out /results --quiet || [ $? = 5 ]
echo "image: bench and node run from scratch"
