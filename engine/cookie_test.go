// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// FuzzCookie: of all cookies only the ones that this endpoint has made, lately, for this opener at this address, are good.
//
//mr:prop P45 P46
func FuzzCookie(f *testing.F) {
	cookies := newCookies(rand.New(rand.NewPCG(1, 1)))
	here := netip.MustParseAddr("10.0.0.1")
	open := wire.BodyOpen{Open: wire.Open{Tag: 7, First: 9}}
	made := cookies.bake(Time(100*time.Second), here, &open)
	f.Add(made[:], int64(100*time.Second), []byte{10, 0, 0, 1}, uint64(7))
	f.Add(made[:], int64(105*time.Second), []byte{10, 0, 0, 2}, uint64(7))
	f.Add(made[:], int64(90*time.Second), []byte{10, 0, 0, 1}, uint64(8))
	f.Add(made[:19], int64(0), []byte{}, uint64(0))
	f.Fuzz(func(t *testing.T, value []byte, now int64, address []byte, tag uint64) {
		from, ok := netip.AddrFromSlice(address)
		if !ok {
			from = here
		}
		claim := wire.BodyOpen{Open: wire.Open{Tag: tag, First: 9}}
		claim.Parameters.Cookie, claim.Parameters.CookiePresent = wire.ParametersCookie{Value: value}, true
		second := now / int64(time.Second)
		mine := bytes.Equal(value, made[:]) && from == here && tag == 7 && second >= 100 && second <= 110
		if cookies.good(Time(now), from, &claim) != mine {
			t.Fatalf("cookie %x at %d from %v for %d: good %v", value, now, from, tag, !mine)
		}
	})
}
