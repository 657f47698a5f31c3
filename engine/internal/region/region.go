// SPDX-License-Identifier: Apache-2.0

// Package region owns registered memory: keys, rights and bounds. The wire carries offsets into regions, never addresses.
package region

import (
	"errors"
	"fmt"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Key names a region on the wire. Keys are drawn at random and never reused.
type Key uint64

// Rights are what peers may do with a region.
type Rights uint8

// The rights; none by default.
const (
	RemoteWrite Rights = 1 << iota
	RemoteRead
	RemoteAtomic
)

// Errors of Register and Deregister.
var (
	ErrKeyTaken   = errors.New("region: key is taken")
	ErrUnknownKey = errors.New("region: unknown key")
)

// Allowed is the verdict that lets an access pass; every other verdict is the code that refuses it.
const Allowed wire.NoticeCode = 0

type entry struct {
	memory []byte
	rights Rights
}

// Table holds the regions of one endpoint.
type Table struct {
	regions map[Key]entry
}

// Register adds memory under a key that the caller has drawn.
func (t *Table) Register(key Key, memory []byte, rights Rights) error {
	if t.regions == nil {
		t.regions = make(map[Key]entry)
	}
	if _, taken := t.regions[key]; taken {
		return fmt.Errorf("%w: %#x", ErrKeyTaken, uint64(key))
	}
	t.regions[key] = entry{memory, rights}
	return nil
}

// Deregister forgets a region. The engine copies inside its calls only, so nothing touches the memory afterwards.
func (t *Table) Deregister(key Key) error {
	if _, ok := t.regions[key]; !ok {
		return fmt.Errorf("%w: %#x", ErrUnknownKey, uint64(key))
	}
	delete(t.regions, key)
	return nil
}

// Len is the number of regions.
func (t *Table) Len() int { return len(t.regions) }

// Access is a peer's wish to touch bytes of a region.
type Access struct {
	Key    Key
	At     uint64 // offset in the region
	Length uint64 // bytes
	Right  Rights
}

// Window returns the bytes that an access may touch, or the code that refuses it.
func (t *Table) Window(a Access) ([]byte, wire.NoticeCode) {
	e, ok := t.regions[a.Key]
	switch {
	case !ok:
		return nil, wire.NoticeCodeBadKey
	case e.rights&a.Right != a.Right:
		return nil, wire.NoticeCodeRight
	case !inside(a.At, a.Length, uint64(len(e.memory))):
		return nil, wire.NoticeCodeBounds
	}
	return e.memory[a.At : a.At+a.Length], Allowed
}

// inside tells whether [at, at+length) lies in [0, size), in a form that cannot wrap.
func inside(at, length, size uint64) bool {
	return at <= size && length <= size-at
}
