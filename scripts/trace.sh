#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# trace.sh: runs the tests that prove requirements of docs/spec, and ties each requirement to code and to a test that passed.
set -eu

cd "$(dirname "$0")/.."
results=$(mktemp)
trap 'rm -f "$results"' EXIT
go test -json ./engine/... ./go-sdk/... ./fuzz/... >"$results"
go run ./cmd/mrgen trace --results "$results" --spec docs/spec "$@"
