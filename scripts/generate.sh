#!/bin/sh
# Brings up to date what follows from the algorithms' declarations: transcripts of
# the worked examples, the editors' schema, docs/algorithms.md, the sizes of small
# worlds; and the schema of answers, for readers of the reference. Read the diff.
set -eu
cd "$(dirname "$0")/.."
go test ./internal/repo/configs -run 'TestFigures|TestSchema' -rewrite
go run ./scripts/algorithms
go test ./internal/judgement/modelcheck -run 'TestExhaustive$' -rewrite
cp internal/answers/answer/answer.schema.json docs/reference/
