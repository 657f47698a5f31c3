// SPDX-License-Identifier: Apache-2.0

// Package sim runs two hosts and the network between them in virtual time, from one seed. Both hosts run the
// production engine through engine.Pump; only the wires, the clock and the application are simulated.
//
// Run does it all: it builds the network of a Config, lets the hosts connect, moves the messages of every Stream, ends
// the streams, closes the connection and returns what happened. The same Config gives the same Result, trace hash
// included, on every machine. Swarm draws a Config from a seed; the tests run many of them.
// A host may forget everything: then the other one has to notice, and both begin anew on another connection.
//
// Judges stand outside the engine. They know every byte that registered memory may hold, with guards around it; they
// see that operations complete once and in order, that receives match the messages, and that what is complete is in
// place. Memory that is complete is overwritten at once, as an application would that uses its buffers again, so a late
// write shows. A judge's verdict is an error that wraps ErrViolation.
//
// A run has two phases. Faults come first; from Config.HealAt on the network is perfect again, and then everything must
// come to its end before Config.Deadline.
//
// Faults are a list: each names its kind and where, when, how often or to which packet it happens. A Config can be written as a
// Script and read again; Minimise makes a failing one small.
//
// The network: a host's link to a plane carries one packet at a time, and the engine is asked for the next packet when a link is
// free. Behind it lie the hops, output ports with a rate, a latency and a queue that drops its tail and marks ECN.
// A packet costs one event per hop. The UDP source port of the opener picks the path.
package sim
