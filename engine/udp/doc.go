// SPDX-License-Identifier: Apache-2.0

// Package udp drives an engine.Endpoint over real sockets on Linux.
//
// Port is the socket side: a pool of nonblocking UDP sockets, one for each local port, behind the three calls of
// engine.Port. It reads with recvmmsg and UDP_GRO, writes with sendmmsg and UDP_SEGMENT, and carries the ECN bits of every
// datagram in control messages. Offload that the kernel refuses is switched off for that socket and counted. A full send
// queue is no error: what could not be sent stays in its buffer, which is not lent again until it has left.
//
// Runner is the loop: one goroutine that owns the Endpoint and its Port. Everybody else hands it commands and gets events
// back. It sleeps until a datagram, a command or the engine's next timeout is there, in the Go scheduler's own poller: a
// command, or the goroutine that waits for an event, can then run on the very thread that has just become idle. A thread
// locked to the loop and blocked in the kernel was measured to answer five times as late.
//
// A steady flow of packets allocates nothing.
package udp
