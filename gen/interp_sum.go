// SPDX-License-Identifier: Apache-2.0

package gen

import "math/bits"

// Of computes the checksum of b: a CRC one bit at a time.
func (s *Sum) Of(b []byte) uint64 {
	switch s.Kind {
	case SumOnes:
		return onesComplement(b)
	case SumAdd, SumXor, SumFletcher:
		return byteSum(s.Kind, b)
	}
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

// byteSum is one of the sums that look at one byte after the other.
func byteSum(kind SumKind, b []byte) uint64 {
	var sum, all, xor uint64
	for _, c := range b {
		sum, xor = sum+uint64(c), xor^uint64(c)
		all = (all + sum%255) % 255
	}
	switch kind {
	case SumAdd:
		return sum & 0xff
	case SumXor:
		return xor
	}
	return all<<8 | sum%255
}

// onesComplement is the checksum of RFC 1071: the complement of the sum of 16-bit words with end-around carry.
func onesComplement(b []byte) uint64 {
	var sum uint64
	for i, c := range b {
		sum += uint64(c) << uint(8*(1-i%2))
		sum = sum&0xffff + sum>>16
	}
	return ^sum & 0xffff
}
