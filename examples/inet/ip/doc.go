// SPDX-License-Identifier: Apache-2.0

// Package ip is the codec of IPv4, IPv6, UDP and TCP with their options and checksums, printed from schema/examples/ip.mrs.
package ip
