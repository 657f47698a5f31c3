// SPDX-License-Identifier: Apache-2.0

// Package metaroce moves memory between hosts over lossy Ethernet: one-sided writes into a peer's registered memory, and
// messages into buffers that the peer has posted, spread over many network paths at once.
//
// # Connections
//
// A Listener accepts connections on one UDP address, or on one for each plane, which is a separate network; Dial opens
// one. A connection has up to Config.Paths paths, each with a UDP source port of its own, so that the switches between the hosts
// carry them along different routes. Loss is repaired per path, at once, and nothing waits for anything that it does not need:
//
//	listener, err := metaroce.Listen("127.0.0.1:4797", metaroce.Config{})
//	conn, err := listener.Accept(ctx)
//
//	conn, err := metaroce.Dial(ctx, "127.0.0.1:4797", metaroce.Config{})
//
// Dial has sockets of its own for each connection. A Dialer opens many connections over one pool of them.
//
// # Regions
//
// A Region is memory that peers may write to, once they know its Key, which is random; what tells them is up to the
// application, usually a Send. A region belongs to the Listener, Dialer or connection where it was registered and serves all
// connections of it. Offsets count from the region's start; addresses never leave the host.
//
// # Streams
//
// Streams are one-way. OpenStream gives the sending end, AcceptStream the receiving end of what the peer has opened.
// Messages of one stream complete in order; streams do not wait for each other. The operations are:
//
//   - Write places bytes in a region of the peer, whose application does not notice. With an immediate value it also
//     consumes a posted receive and so tells the application that it, and all before it on the stream, is in place.
//   - Send fills the next receive that the peer has posted on the stream. While none is posted it waits.
//   - Read fetches bytes of a region of the peer, FetchAdd and CompareSwap change a word there, once, and return what it
//     was. They see all earlier writes of their stream; among themselves they have no order unless they are fenced.
//
// These return when the peer has placed, or answered, all. Their Start forms return an Operation at once, so that many can be
// under way; Config.Depth bounds how many. Memory handed to an operation must not change until it has ended.
//
// A context that ends cancels the operation of a form that waits, and the memory is the caller's again when it returns. Waiting
// for an Operation cancels nothing; Operation.Cancel does. A Write or Send that fails takes its stream with it, and so does any
// operation that is canceled or late once it has begun, since the peer may hold half of it: what follows on the stream ends with
// ErrEnded and the reason. A Read or atomic operation that the peer refuses ends alone. Other streams always go on.
//
// # Errors
//
// Errors say what went wrong in the terms of package engine, whose sentinels are repeated here; an operation that the peer
// refused ends with an *OpError, which names stream, message, path and one of the codes from TooLong to Stopped:
//
//	var refused *metaroce.OpError
//	if errors.As(err, &refused) && refused.Code == metaroce.Bounds {
//
// When a connection ends, everything that waits on it ends with the reason, and what is begun later with ErrClosed. Nothing waits for a dead peer longer than Config.DeadAfter.
//
// # Security
//
// This version speaks the clear profile only: packets carry a checksum and no encryption. Addresses other than loopback are
// refused with ErrInsecure unless Config.Insecure says that the network is trusted.
//
// # Concurrency
//
// All methods may be called by several goroutines. Each Listener, Dialer and dialled connection has one goroutine that owns
// its sockets and its protocol state; no lock is held while packets are handled.
package metaroce
