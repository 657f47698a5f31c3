// SPDX-License-Identifier: Apache-2.0

// Package layers has VXLAN as gopacket layers, printed from schema/examples/vxlan.mrs. Call Register before anything is decoded.
package layers
