// SPDX-License-Identifier: Apache-2.0

// Package layergen prints gopacket layers for the packets of a schema.
//
// A layer embeds the struct that the Go backend prints for its packet and leaves all reading and writing to it. What this
// package adds is what gopacket wants to know: which bytes are the payload, what follows them, and which fields an encoder
// may settle. That comes from the IR's decode programs, where each item that takes the rest of a packet says how many bytes
// stand behind it.
package layergen
