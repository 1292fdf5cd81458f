#!/usr/bin/env bash
# Adds an election and a mutual exclusion with "bench new algorithm" to a copy of
# this tree, and a third as a module of its own; the tests that look at every
# algorithm must pass.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$dir" 2>/dev/null ||
	git archive HEAD | tar -x -C "$dir"
cd "$dir"
export GOFLAGS=-trimpath # what is compiled in one folder serves in the next
go build -o "$dir/bench" ./cmd/bench
"$dir/bench" new algorithm election/first-try --no-generate
"$dir/bench" new algorithm mutex/second-try
go test ./plugins/election/firsttry ./plugins/mutex/secondtry ./internal/repo/tidy ./internal/repo/configs \
	./scripts/algorithms ./internal/commands/conform ./internal/judgement/modelcheck ./pkg/algo/algotest ./plugins/all
"$dir/bench" new algorithm election/third-try --module example.com/own --out "$dir/own"
cd own
go mod tidy
go test ./...
go run . run experiment.yaml --quiet
