#!/bin/sh
# Brings up to date what follows from declarations: transcripts of the worked examples, the
# editors' schema, the pages of docs/reference that say so, the sizes of small worlds; and the
# schema of answers, for readers of the reference. Read the diff.
set -eu
cd "$(dirname "$0")/.."
go test ./internal/repo/configs -run 'TestFigures|TestSchema' -rewrite
go run ./scripts/algorithms
go run ./scripts/reference
go test ./internal/judgement/modelcheck -run 'TestExhaustive$' -rewrite
cp internal/answers/answer/answer.schema.json docs/reference/
