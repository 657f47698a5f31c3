// SPDX-License-Identifier: Apache-2.0

// Package layers has IPv4, IPv6, UDP and TCP as gopacket layers, printed from schema/examples/ip.mrs. Call Register before anything is decoded.
package layers
