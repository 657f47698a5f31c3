#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# cover.sh: runs the tests of the compiler, and prints which statements of it they ran and which they did not.
set -eu

cd "$(dirname "$0")/.."
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
go test -coverpkg=./gen/... -coverprofile="$profile" ./gen/... ./cmd/mrgen >&2
go run ./tidy/cover "$profile"
