// SPDX-License-Identifier: Apache-2.0

// Package layers has RoCEv2 as gopacket layers, printed from schema/examples/rocev2.mrs. Call Register before anything is decoded.
package layers
