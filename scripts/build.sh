#!/bin/sh
# Builds bench and node as releases and the image have them: statically linked, and without
# a trace of the folder that they were built in.
#
#   scripts/build.sh OUT
set -eu
mkdir -p "$1"
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$1/" ./cmd/bench ./cmd/node
