#!/bin/sh
# Looks for products that the compiler fuses with a sum, in the packages whose figures stand
# in files: a fused one is rounded once, not twice, so that last digits would depend on the
# machine. arm64 always fuses where Go allows it; amd64 does from GOAMD64=v3 on. The remedy is
# a conversion, x + float64(y*z), which rounds the product. Where math.FMA says it, it is meant.
set -eu
cd "$(dirname "$0")/.."
packages="./pkg/algo ./pkg/link ./pkg/check ./internal/answers/compare ./pkg/harness ./pkg/results ./pkg/sim ./internal/base/stats ./pkg/trace ./plugins/..."
listing=$(mktemp)
trap 'rm -f "$listing"' EXIT
# shellcheck disable=SC2086
GOARCH=arm64 go build -gcflags=-S $packages 2>"$listing"
if ! grep -q 'FMULD' "$listing"; then
	echo "fused: no product in the listing of arm64: has its form changed?" >&2
	exit 1
fi
fused=$(grep -E 'FN?M(ADD|SUB)[DS]' "$listing" | grep -oE '[^(]*\.go:[0-9]+' | grep -v '/pkg/mod/' | sort -u |
	while IFS=: read -r file line; do
		sed -n "${line}p" "$file" | grep -q 'math\.FMA' || echo "$file:$line"
	done)
if test -n "$fused"; then
	echo "$fused" | sed "s|^$PWD/||; s|\$|: a product is fused with a sum: write x + float64(y*z)|" >&2
	exit 1
fi
echo "fused: no product is fused with a sum"
