# The targets explain themselves: "make" prints what stands behind the ##.
.DEFAULT_GOAL := help
GO ?= go
# The longest first, so that none runs alone at the end.
CONCURRENT := ./internal/worlds/host/... ./pkg/runner/... ./internal/runs/... ./pkg/results/... ./pkg/bus/... ./internal/base/clock ./internal/base/proc/... ./internal/worlds/telemetry

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build both commands into bin/
	$(GO) build -o bin/ ./cmd/...

test: ## all tests that fit in two minutes on two cores
	$(GO) test ./...

# Of the commands, those that do several things at a time in the process itself; by night all.
race: ## the packages with more than one goroutine, under the race detector
	$(GO) test -race -short -timeout 30m $(CONCURRENT)
	$(GO) test -race -short -timeout 30m -run '^Test(Run_|Serve|Progress|Interrupt|Whole|Queue|Atlas|Tune|Merge|GoesOn)' ./pkg/cli

lint: ## gofmt, vet, staticcheck, errcheck and misspell, on every platform that we promise
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	GOOS=js GOARCH=wasm $(GO) build ./pkg/experiment ./pkg/sim ./pkg/check ./pkg/results ./pkg/runner ./plugins/all
	$(GO) tool -modfile=scripts/lint/go.mod staticcheck ./...
	$(GO) tool -modfile=scripts/lint/go.mod errcheck -ignoretests -exclude scripts/lint/errcheck.txt ./...
	$(GO) tool -modfile=scripts/lint/go.mod misspell -error -i trasnport,elction,adress $$(git ls-files "*.go" "*.md" "*.yaml" "*.sh" | grep -v testdata)

tidy: ## the house rules, and a go.mod that is as it should be
	$(GO) test ./internal/repo/tidy
	$(GO) mod tidy -diff

fuzz: ## 100 000 inputs for each decoder and loader
	sh scripts/fuzz.sh 100000x

bench: ## benchmarks; each prints ratios from one interleaved run
	$(GO) test -run '^$$' -bench . -benchtime 200ms ./pkg/... ./internal/...

golden: ## rewrite golden files; read the diff before you commit it
	$(GO) test ./pkg/experiment ./pkg/cli ./internal/answers/report/diagram ./internal/answers/report/export ./internal/answers/report/figure ./internal/repo/configs -rewrite

generate: ## what follows from the algorithms' declarations; read the diff
	sh scripts/generate.sh

quickstart: ## what the README promises: real nodes, under a minute
	$(GO) run ./cmd/bench run configs/quickstart.yaml

determinism: ## the same file twice in simulation: every table byte for byte
	sh scripts/determinism.sh

reference: ## the reference run of every algorithm again: every changed count fails
	scripts/reference.sh
	scripts/atlas.sh

refresh: ## take the new counts for the reference; say why in CHANGELOG.md
	scripts/reference.sh refresh
	scripts/atlas.sh refresh

reproduce: ## published statements against measurement, in full, into docs/evidence/reproduced.md
	$(GO) run ./cmd/bench reproduce --markdown --out "$$(mktemp -d)" > docs/reproduced.new
	mv docs/reproduced.new docs/evidence/reproduced.md

vulncheck: ## known vulnerabilities that our code can reach
	sh scripts/vulncheck.sh

browser: ## the report in a real browser; skipped where none is installed
	CONCLAVE_BROWSER=1 $(GO) test -v -count 1 -timeout 15m ./internal/repo/browser

screenshots: ## the pictures of the report in docs/images, from a run made for them
	$(GO) run ./scripts/screenshots

site: ## the documentation as a site, with a search, into site/
	$(GO) run -C scripts/site . ../.. ../../site

nightly: ## everything that takes too long for CI: hours
	bash .ci/nightly

slow: ## the slow tests: kill loops, long schedules
	CONCLAVE_NIGHTLY=1 $(GO) test -timeout 60m -skip '^TestPackages$$' ./...

mutants: ## break some plugins and statistics a line at a time; their tests must notice each
	CONCLAVE_NIGHTLY=1 $(GO) test -timeout 300m -v -run TestPackages ./internal/commands/mutate

ci: ## everything that CI runs
	bash .ci/run

.PHONY: help build test race lint tidy fuzz bench golden quickstart determinism reference refresh reproduce vulncheck browser screenshots generate site nightly slow mutants ci
