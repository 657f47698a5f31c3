// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// cookie proves that an opener receives at its address. It holds the second of its making and a keyed hash over that,
// the address without port, and all that the OPEN says. The acceptor keeps nothing until it comes back.
type cookie [4 + 16]byte

// cookieLife is how long a cookie is good for.
const cookieLife = 10 * time.Second

// cookies makes and checks cookies.
type cookies struct {
	secret [32]byte
}

func newCookies(rng *rand.Rand) (k cookies) {
	for i := 0; i < len(k.secret); i += 8 {
		binary.LittleEndian.PutUint64(k.secret[i:], rng.Uint64())
	}
	return k
}

// bake returns the cookie for an opener.
func (k *cookies) bake(now Time, from netip.Addr, open *wire.BodyOpen) cookie {
	return k.sealed(uint32(time.Duration(now)/time.Second), from, open)
}

func (k *cookies) sealed(second uint32, from netip.Addr, open *wire.BodyOpen) (c cookie) {
	binary.BigEndian.PutUint32(c[:4], second)
	mac := hmac.New(sha256.New, k.secret[:])
	mac.Write(c[:4])
	address := from.As16()
	mac.Write(address[:])
	mac.Write(fingerprint(open))
	copy(c[4:], mac.Sum(nil))
	return c
}

// good tells whether this endpoint has made the cookie lately, for this opener.
//
//mr:req MR-CONN-003
func (k *cookies) good(now Time, from netip.Addr, open *wire.BodyOpen) bool {
	presented := open.Parameters.Cookie.Value
	if len(presented) != len(cookie{}) {
		return false
	}
	second := binary.BigEndian.Uint32(presented)
	age := uint32(time.Duration(now)/time.Second) - second
	want := k.sealed(second, from, open)
	return hmac.Equal(presented, want[:]) && age <= uint32(cookieLife/time.Second)
}

// fingerprint is the OPEN as bytes, less cookie and padding: what a retry repeats.
func fingerprint(open *wire.BodyOpen) []byte {
	same := *open
	same.Parameters.CookiePresent = false
	same.Parameters.Cookie = wire.ParametersCookie{}
	same.Parameters.Padding = 0
	b, err := same.Append(nil, &wire.Base{})
	if err != nil {
		panic("engine: a decoded OPEN does not encode: " + err.Error())
	}
	return b
}
