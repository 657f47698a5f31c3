// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"errors"
	"io"
)

var errCut = errors.New("the file ends within a block")

// blocks passes a pcapng file on and follows its blocks, because the reader behind it takes a file that ends within a block
// for one that ends.
type blocks struct {
	r     io.Reader
	head  []byte // the first 12 bytes of the block under way
	left  uint32 // bytes of it that are still to come
	order binary.ByteOrder
}

// sectionMagic is the byte-order magic of a section header, as it reads in the order of the file.
const sectionMagic = 0x1a2b3c4d

func (b *blocks) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.follow(p[:n])
	if err == io.EOF && (b.left > 0 || len(b.head) > 0) {
		err = errCut
	}
	return n, err
}

// follow takes note of bytes that pass.
func (b *blocks) follow(p []byte) {
	for len(p) > 0 {
		if b.left > 0 {
			n := min(len(p), int(b.left))
			p, b.left = p[n:], b.left-uint32(n)
			continue
		}
		n := min(len(p), 12-len(b.head))
		b.head = append(b.head, p[:n]...)
		p = p[n:]
		if len(b.head) < 12 {
			return
		}
		if b.order == nil || binary.LittleEndian.Uint32(b.head) == 0x0a0d0d0a {
			b.order = binary.LittleEndian
			if binary.BigEndian.Uint32(b.head[8:]) == sectionMagic {
				b.order = binary.BigEndian
			}
		}
		b.left = max(b.order.Uint32(b.head[4:]), 12) - 12
		b.head = b.head[:0]
	}
}
