// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package udp

// The package is built on sendmmsg, UDP_SEGMENT and epoll. The undefined name below is the message of the compiler.
var _ = package_engine_udp_needs_linux
