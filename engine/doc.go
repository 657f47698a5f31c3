// SPDX-License-Identifier: Apache-2.0

// Package engine is the MetaRoCE transport as a value machine: datagrams and the time go in, datagrams, events and a
// deadline come out. It owns no clock, socket, goroutine or lock. One Endpoint belongs to one goroutine.
//
// Files are read in the order in which a packet meets them:
//
//	endpoint.go   what drivers and applications call
//	ingress.go    a datagram comes in: codec, checksum, connection, path
//	handshake.go  cookie.go  accept.go  close.go  how connections begin and end
//	place.go      a chunk finds its memory
//	feedback.go   an ACK frees chunks and exposes losses
//	acks.go       what is reported, when, and on which path
//	egress.go     the one door out: control, notices, ACKs, resends, probes, new chunks
//	timers.go     what happens when nothing comes in
package engine
