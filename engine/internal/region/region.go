// SPDX-License-Identifier: Apache-2.0

// Package region owns registered memory: keys, rights and bounds. The wire carries offsets into regions, never addresses.
package region

import (
	"errors"
	"fmt"
	"slices"

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
	parent Key   // of a window; 0 = a region of its own
	parts  []Key // windows onto it
}

// Table holds the regions of one endpoint.
type Table struct {
	regions map[Key]*entry
}

// Register adds memory under a key that the caller has drawn.
func (t *Table) Register(key Key, memory []byte, rights Rights) error {
	if t.regions == nil {
		t.regions = make(map[Key]*entry)
	}
	if _, taken := t.regions[key]; taken {
		return fmt.Errorf("%w: %#x", ErrKeyTaken, uint64(key))
	}
	t.regions[key] = &entry{memory: memory, rights: rights}
	return nil
}

// Part makes a window onto a part of a region reachable under a key of its own, with some of its rights. It ends with the
// region, or before it.
func (t *Table) Part(key Key, of Access) error {
	memory, code := t.Window(of)
	if code != Allowed {
		return fmt.Errorf("%w: part %d+%d of %#x: %v", ErrUnknownKey, of.At, of.Length, uint64(of.Key), code)
	}
	if err := t.Register(key, memory, of.Right); err != nil {
		return err
	}
	whole, part := t.regions[of.Key], t.regions[key]
	whole.parts, part.parent = append(whole.parts, key), of.Key
	return nil
}

// Deregister forgets a region and all windows onto it. The engine copies inside its calls only, so nothing touches the
// memory afterwards.
func (t *Table) Deregister(key Key) error {
	e, ok := t.regions[key]
	if !ok {
		return fmt.Errorf("%w: %#x", ErrUnknownKey, uint64(key))
	}
	if whole, ok := t.regions[e.parent]; ok && e.parent != 0 {
		whole.parts = slices.DeleteFunc(whole.parts, func(k Key) bool { return k == key })
	}
	for _, part := range slices.Clone(e.parts) {
		if err := t.Deregister(part); err != nil {
			return err
		}
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
//
//mr:req MR-STREAM-014 MR-STREAM-031
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
