// SPDX-License-Identifier: Apache-2.0

package region

import (
	"errors"
	"math/big"
	"testing"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// The bounds check equals exact arithmetic on the whole boundary grid.
//
//mr:prop P15
//mr:test MR-STREAM-014
func TestBoundsEqualExactArithmetic(t *testing.T) {
	grid := []uint64{0, 1, 2, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 1, ^uint64(0) - 1, ^uint64(0)}
	exact := func(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
	for _, at := range grid {
		for _, length := range grid {
			for _, size := range grid {
				end := new(big.Int).Add(exact(at), exact(length))
				if want := end.Cmp(exact(size)) <= 0; inside(at, length, size) != want {
					t.Errorf("inside(%d, %d, %d) = %v", at, length, size, !want)
				}
			}
		}
	}
}

//mr:prop P14 P18
//mr:test MR-STREAM-014 MR-STREAM-015
func TestWindowRefusesByName(t *testing.T) {
	var table Table
	memory := make([]byte, 100)
	if err := table.Register(7, memory, RemoteWrite); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name   string
		access Access
		want   wire.NoticeCode
	}{
		{"whole", Access{7, 0, 100, RemoteWrite}, Allowed},
		{"empty at end", Access{7, 100, 0, RemoteWrite}, Allowed},
		{"one beyond", Access{7, 0, 101, RemoteWrite}, wire.NoticeCodeBounds},
		{"wraps", Access{7, ^uint64(0), 2, RemoteWrite}, wire.NoticeCodeBounds},
		{"other key", Access{8, 0, 1, RemoteWrite}, wire.NoticeCodeBadKey},
		{"no right", Access{7, 0, 1, RemoteRead}, wire.NoticeCodeRight},
		{"no right and out of bounds", Access{7, 0, 101, RemoteRead}, wire.NoticeCodeRight},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			window, code := table.Window(c.access)
			if code != c.want {
				t.Fatalf("code %v, want %v", code, c.want)
			}
			if code == Allowed && uint64(len(window)) != c.access.Length {
				t.Fatalf("window of %d bytes, want %d", len(window), c.access.Length)
			}
		})
	}
	if err := table.Register(7, memory, RemoteWrite); !errors.Is(err, ErrKeyTaken) {
		t.Errorf("second registration: %v", err)
	}
	if err := table.Deregister(7); err != nil {
		t.Fatal(err)
	}
	if _, code := table.Window(Access{7, 0, 1, RemoteWrite}); code != wire.NoticeCodeBadKey {
		t.Errorf("after Deregister: %v", code)
	}
	if err := table.Deregister(7); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("second Deregister: %v", err)
	}
}

func TestPartEndsWithItsRegion(t *testing.T) {
	var table Table
	memory := make([]byte, 100)
	if err := table.Register(1, memory, RemoteWrite|RemoteRead); err != nil {
		t.Fatal(err)
	}
	if err := table.Part(2, Access{Key: 1, At: 10, Length: 20, Right: RemoteWrite}); err != nil {
		t.Fatal(err)
	}
	if err := table.Part(3, Access{Key: 2, At: 5, Length: 5, Right: RemoteWrite}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []Access{{2, 0, 21, RemoteWrite}, {2, 0, 1, RemoteRead}, {9, 0, 1, RemoteWrite}} {
		if err := table.Part(4, bad); !errors.Is(err, ErrUnknownKey) {
			t.Errorf("part %+v: %v", bad, err)
		}
	}
	window, code := table.Window(Access{3, 1, 4, RemoteWrite})
	if code != Allowed || &window[0] != &memory[16] {
		t.Fatalf("the part of a part lies elsewhere: %v", code)
	}
	if err := table.Deregister(3); err != nil {
		t.Fatal(err)
	}
	if err := table.Deregister(1); err != nil {
		t.Fatal(err)
	}
	if table.Len() != 0 {
		t.Errorf("%d regions are left", table.Len())
	}
}

// FuzzBounds: the bounds check equals exact arithmetic, wherever the fuzzer looks.
//
//mr:prop P15
func FuzzBounds(f *testing.F) {
	f.Add(uint64(0), uint64(0), uint64(0))
	f.Add(^uint64(0), uint64(2), uint64(1))
	f.Add(uint64(1)<<63, uint64(1)<<63, ^uint64(0))
	f.Fuzz(func(t *testing.T, at, length, size uint64) {
		exact := func(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
		end := new(big.Int).Add(exact(at), exact(length))
		if want := end.Cmp(exact(size)) <= 0; inside(at, length, size) != want {
			t.Fatalf("inside(%d, %d, %d) = %v", at, length, size, !want)
		}
	})
}
