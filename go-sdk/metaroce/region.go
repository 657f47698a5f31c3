// SPDX-License-Identifier: Apache-2.0

package metaroce

import "github.com/openmetaroce/metaroce/engine"

// Key names a region on the wire. It is random: who does not know it cannot reach the region.
type Key = engine.Key

// Rights are what peers may do with a region.
type Rights = engine.Rights

// The rights of a region. Without any, peers can do nothing with it.
const (
	RemoteWrite  = engine.RemoteWrite
	RemoteRead   = engine.RemoteRead
	RemoteAtomic = engine.RemoteAtomic
)

// Region is memory that peers can reach.
type Region struct {
	endpoint *endpoint
	memory   []byte
	key      Key
	closed   bool // of the loop's goroutine
}

// Key returns the name that peers need.
func (r *Region) Key() Key { return r.key }

// Bytes returns the memory. Peers write to it while it is registered; what a message has written may be read once the
// application has heard of that message, or of a later one of the same stream.
func (r *Region) Bytes() []byte { return r.memory }

// Close takes the memory back. Once it returns no packet touches it any more; what peers still send is refused. Closing a
// region again does nothing.
func (r *Region) Close() (err error) {
	r.endpoint.ask(func(engine.Time) {
		if !r.closed {
			r.closed = true
			err = r.endpoint.engine.Deregister(r.key)
		}
	})
	return err
}
