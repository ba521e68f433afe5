# `make` checks what a change must not break; `.ci/run` does that and more on a clean checkout.

GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.7.0
FUZZTIME    ?= 20s
BENCHTIME   ?= 1s
BENCH       ?= .

.PHONY: all build test race bench fuzz lint examples clean

all: lint test

build: ## the command, as bin/sluice
	$(GO) build -trimpath -o bin/sluice ./cmd/sluice

test: ## all tests
	$(GO) test ./...

race: ## all tests under the race detector, the longest of them shortened
	$(GO) test -race -short ./...

bench: ## all benchmarks; make bench BENCH=Chains for some
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) ./...

fuzz: ## every fuzz target for FUZZTIME
	@grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do \
		sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file" | while read -r target; do \
			echo "== $$(dirname "$$file") $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" || exit 1; \
		done || exit 1; \
	done

lint: ## the format, vet and staticcheck
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

examples: ## run the examples, for looking at
	$(GO) run ./cmd/sluice run examples/archive/archive.yaml
	$(GO) run ./examples/order
	$(GO) run ./examples/order approve
	$(GO) run ./examples/procure -approve

clean: ## what builds and examples leave behind
	rm -rf bin out
