// SPDX-License-Identifier: Apache-2.0

// Package layers has Geneve as gopacket layers, printed from schema/examples/geneve.mrs. Call Register before anything is decoded.
package layers
