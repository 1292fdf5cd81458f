#!/bin/sh
# Builds, checks and tests the module of libraries, systems/, against this working tree, and installs its
# program, bench-systems, into the folder that is named; without one, nowhere. A released module depends on a
# release of Conclave, so that no workspace is needed. The systems whose programs the tests of systems/service
# run are installed where that can be done: tests of those that lack are skipped, but in CI they fail.
set -eu
cd "$(dirname "$0")/.."
missing=
for pair in etcd:etcd-server redis-server:redis-server /usr/share/zookeeper/bin/zkServer.sh:zookeeper \
	patroni:patroni fusermount3:fuse3; do
	command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing="$missing postgresql"
ls /usr/lib/*/faketime/libfaketime.so.1 >/dev/null 2>&1 || missing="$missing libfaketime"
if [ -n "$missing" ] && [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && [ -x /usr/bin/apt-get ]; then
	# What the packages' scripts start on their own is in the way of nothing: tests have addresses of their own.
	{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } \
		>/dev/null 2>&1 || echo "not installed:$missing"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOWORK="$work/go.work"
go work init "$PWD" "$PWD/systems"
cd systems
if [ $# -gt 0 ]; then
	mkdir -p "$1"
	go build -o "$1/" ./cmd/bench-systems
fi
test -z "$(gofmt -l .)" || { gofmt -l .; exit 1; }
go vet ./...
go test -timeout 30m ./...
