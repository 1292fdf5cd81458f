#!/bin/sh
# Builds the kits for algorithms in other languages and their examples, runs their own tests, and compares the
# examples with the plugins in Go. What is not there and can be installed, is: Python, Node.js, Java, and Rust with
# WebAssembly, of Debian.
set -eu
cd "$(dirname "$0")/.."
missing=
for pair in python3:python3 node:nodejs javac:default-jdk-headless /usr/bin/rustc:rustc wasm-ld:lld; do
	command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
find /usr/lib/rustlib -maxdepth 1 -name wasm32-unknown-unknown 2>/dev/null | grep -q . ||
	missing="$missing libstd-rust-dev-wasm32"
if [ -n "$missing" ] && [ "$(id -u)" = 0 ] && [ -x /usr/bin/apt-get ]; then
	{ apt-get update && apt-get install -y --no-install-recommends $missing; } >/dev/null 2>&1 ||
		echo "not installed:$missing"
fi
CONCLAVE_SLOW=1 go test -count=1 ./internal/repo/kits
