#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# trace.sh: runs the tests that prove requirements of docs/spec, and ties each requirement to code and to a test that passed.
set -eu

cd "$(dirname "$0")/.."
results=$(mktemp)
trap 'rm -f "$results"' EXIT
if ! go test -json ./engine/... ./go-sdk/... ./fuzz/... >"$results"; then
	grep -E '"Action":"(fail|build-fail)"|--- FAIL|_test.go:[0-9]+: ' "$results" | tail -40 >&2
	exit 1
fi
go run ./cmd/mrgen trace --results "$results" --spec docs/spec "$@"
