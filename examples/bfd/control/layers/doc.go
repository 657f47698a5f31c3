// SPDX-License-Identifier: Apache-2.0

// Package layers has control packets of bidirectional forwarding detection as gopacket layers, printed from schema/examples/bfd.mrs. Call Register before anything is decoded.
package layers
