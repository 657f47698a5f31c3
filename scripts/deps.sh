#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# deps.sh [COMMAND...]: makes sure that commands of Debian packages are there. Default: those without which tests are skipped
# or look at less.
# As root it installs what is missing; otherwise it prints the line to run, and fails.
set -eu

[ $# -gt 0 ] || set -- tshark ip nft gcc g++ make pkg-config luac5.2 luac5.4

missing=
for command in "$@"; do
	command -v "$command" >/dev/null 2>&1 && continue
	case $command in
	tshark | gcc | g++ | clang | make | cmake | pkg-config | ethtool) package=$command ;;
	luac5.2 | luac5.4) package=lua${command#luac} ;;
	ip) package=iproute2 ;;
	qemu-arm-static) package=qemu-user-static ;;
	nft) package=nftables ;;
	*)
		echo "deps.sh: which package has $command?" >&2
		exit 2
		;;
	esac
	missing="$missing $package"
done
[ -n "$missing" ] || exit 0

apt="apt-get -o DPkg::Lock::Timeout=400"
install="$apt install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null 2>&1; then
	echo "deps.sh: no apt-get here; install:$missing" >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "deps.sh: missing:$missing. Run:" >&2
	echo "  sudo sh -c 'export DEBIAN_FRONTEND=noninteractive; $apt update && $install'" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo "deps.sh: installing$missing" >&2
{ $apt update && $install; } >&2
