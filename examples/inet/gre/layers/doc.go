// SPDX-License-Identifier: Apache-2.0

// Package layers has GRE as gopacket layers, printed from schema/examples/gre.mrs. Call Register before anything is decoded.
package layers
