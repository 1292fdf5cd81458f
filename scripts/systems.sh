#!/bin/sh
# Builds, checks and tests the module of libraries, systems/, against this working tree, and installs its
# program, bench-systems, into the folder that is named; without one, nowhere. A released module depends on a
# release of Conclave, so that no workspace is needed. Tests of systems that are not installed are skipped; in CI
# they fail.
set -eu
cd "$(dirname "$0")/.."
scripts/services-packages.sh
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
