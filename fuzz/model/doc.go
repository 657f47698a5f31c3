// SPDX-License-Identifier: Apache-2.0

// Package model is the transport as its specification words it: sets and lists of integers that never wrap, no windows, no
// timers, exact fractions. It is written from docs/spec alone and imports nothing of the engine. Tests run it beside the
// engine and compare what both say.
//
// A Ledger is the sending half of a path, a Board the receiving half, an Inbox the receiving end of a stream, an Outbox its
// sending end, a Window the congestion window of a path, Shares a receiver's division of its capacity. All of it is slow.
package model
