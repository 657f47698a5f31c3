#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh [OPTION...]: shows that it works. Checks that the codecs are what the schema says, then has two processes move a
# file over 16 paths, without and with loss, and compares what Wireshark sees with what the SDK counted.
# FILE=path moves another file than the default one, a tar of the Go toolchain's source. Options go to `mrdemo run`.
set -eu
cd "$(dirname "$0")/.."

scripts/deps.sh tshark
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/" ./cmd/mrgen ./cmd/mrdemo
"$bin/mrgen" check >&2
"$bin/mrdemo" run --dissector wireshark/metaroce.lua "$@" ${FILE:+"$FILE"}
