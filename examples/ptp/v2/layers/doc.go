// SPDX-License-Identifier: Apache-2.0

// Package layers has PTP as gopacket layers, printed from schema/examples/ptp.mrs. Call Register before anything is decoded.
package layers
