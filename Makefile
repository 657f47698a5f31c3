# SPDX-License-Identifier: Apache-2.0

.PHONY: help demo test check-all check gen generate trace mutants cover soak fuzz bench bars tidy deps

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' Makefile

demo: ## Send a file over real UDP on this machine, with loss, and show what happened. FILE=path; else Go's own source as a tar.
	@FILE="$(FILE)" scripts/demo.sh

test: ## Everything that a change must pass; the last line counts.
	@scripts/deps.sh
	@go run ./tidy/stages test

check-all: ## test, and the checks that are too slow for every change.
	@scripts/deps.sh
	@scripts/deps.sh qemu-arm-static
	@go run ./tidy/stages all

check: ## Are the generated files those of the schema?
	@go run ./cmd/mrgen check

gen: ## Write the generated files anew.
	@go run ./cmd/mrgen gen

generate: gen ## The same.

trace: ## Which code obeys each requirement, and which test proves it?
	@scripts/trace.sh

mutants: ## Does a test notice each of a hundred small faults, and raise no alarm without one? Prints the matrix.
	@go run ./fuzz/mutants

cover: ## Which statements of the compiler do the tests run? Prints the share and what never ran.
	@scripts/cover.sh

soak: ## Random faults for MIN minutes (10); what was found goes to fuzz/ledger.jsonl.
	@go run ./cmd/mrsim soak --minutes $(or $(MIN),10)

fuzz: ## A minute of fuzzing for every fuzz target.
	@go run ./tidy/stages fuzz

bench: ## Run the benchmarks.
	@go test -run '^$$' -bench . -benchmem ./...

bars: ## Measure against the bars that must not be missed. JSON=FILE writes the figures too; JSON=- only them.
	@go run ./tidy/bars $(if $(JSON),-json $(JSON))

tidy: ## Only the house rules.
	@go test ./tidy

deps: ## Install what the tests need besides Go (apt, as root).
	@scripts/deps.sh
