# `make demo` and `make test` need Go and git, nothing else.

GO     ?= go
PKG    ?= ./...
BIN    := bin/quire$(shell $(GO) env GOEXE)

# The linters are pinned, and fetched by the Go command when they are asked for.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOLANGCI    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# The packages whose tests import rapid.
DRAWN = $(shell $(GO) list -f '{{range .TestImports}}{{if eq . "pgregory.net/rapid"}}{{$$.ImportPath}}{{end}}{{end}} {{range .XTestImports}}{{if eq . "pgregory.net/rapid"}}{{$$.ImportPath}}{{end}}{{end}}' $(PKG))

.DEFAULT_GOAL := help
.PHONY: help build demo demo-audit test tests race lint vet bench bench-pool mutate schema e2e-clients walks

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

build: ## build bin/quire, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN) ./cmd/quire

demo: build ## show the agent at work, without a key and without a network
	@$(BIN) demo

demo-audit: build ## audit a small session that is in the repository
	@echo
	@echo 'A coding agent fixed two small bugs in one afternoon. What did that cost, what was'
	@echo 'paid for more than once, and what would have been cheaper? From its log alone:'
	@echo
	@echo '  $$ quire audit examples/demo/session.jsonl'
	@echo
	@$(BIN) audit examples/demo/session.jsonl

test: ## run all tests; with SEED=N the property tests draw from that seed
	@$(MAKE) --no-print-directory tests TEST="$(GO) test"

race: ## run the tests with the race detector (needs gcc)
	@CGO_ENABLED=1 $(MAKE) --no-print-directory tests TEST="$(GO) test -race -short"

# Only the packages with property tests know the flag of the seed.
tests:
ifeq ($(SEED),)
	$(TEST) $(PKG)
else
	@echo "the property tests draw from seed $(SEED)"
	$(TEST) $(filter-out $(DRAWN),$(shell $(GO) list $(PKG)))
	$(TEST) $(DRAWN) -rapid.seed=$(SEED)
endif

vet: ## gofmt and go vet
	@files="$$(gofmt -l cmd internal)"; if [ -n "$$files" ]; then echo "not formatted:"; echo "$$files"; exit 1; fi
	$(GO) vet $(PKG)

lint: vet ## vet, staticcheck and golangci-lint
	$(GO) run $(STATICCHECK) $(PKG)
	$(GO) run $(GOLANGCI) run $(PKG)

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem $(PKG)

bench-pool: ## measure a generated pool of a million pages (minutes, 2 GB of disk)
	QUIRE_MILLION=1 $(GO) test -run '^$$' -bench Million -timeout 60m $(PKG)

mutate: ## change each decision of the scheduler and list the changes that no test notices (minutes)
	QUIRE_MUTATE=1 $(GO) test -count=1 -timeout 60m -run Killed -v ./internal/mutate

CLIENTS ?= $(HOME)/.cache/quire-clients

e2e-clients: ## install six real clients (1.3 GB, needs npm and root) and run each against gateway and simulator
	QUIRE_CLIENTS=$(CLIENTS) $(GO) test -count=1 -timeout 0 -run '^TestClients$$' -v ./internal/gatewaytest

walks: ## random walks and habits of clients through the gateway, thousands of them, and kill -9 at each write (an hour)
	QUIRE_KILLS=1 $(GO) test -count=1 -timeout 0 -run 'Walks|Killed|Habits' -rapid.checks=1000 ./internal/gatewaytest

schema: ## write docs/settings.schema.json anew
	$(GO) run ./cmd/quire config schema > docs/settings.schema.json
