// SPDX-License-Identifier: Apache-2.0

package gen

import "math/bits"

// Of computes the checksum of b, one bit at a time.
func (s *Sum) Of(b []byte) uint64 {
	top := uint64(1) << uint(s.Width-1)
	crc := s.Init
	for _, c := range b {
		if s.ReflectIn {
			c = bits.Reverse8(c)
		}
		for i := 7; i >= 0; i-- {
			in := uint64(c>>uint(i)) & 1
			out := crc & top >> uint(s.Width-1)
			crc = crc << 1 & bitMask(s.Width)
			if in != out {
				crc ^= s.Poly
			}
		}
	}
	if s.ReflectOut {
		crc = bits.Reverse64(crc) >> uint(64-s.Width)
	}
	return (crc ^ s.XorOut) & bitMask(s.Width)
}
