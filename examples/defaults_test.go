// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"testing"

	"github.com/openmetaroce/metaroce/examples/inet/ip"
	rocev2 "github.com/openmetaroce/metaroce/examples/rocev2/wire"
)

func TestConstructorsSetDefaults(t *testing.T) {
	if p := ip.NewIpv4(); p.Ttl != 64 || p.Version != 4 {
		t.Errorf("got %+v", p)
	}
	if p := rocev2.NewRoceV2(); p.Bth.Pkey != 0xffff {
		t.Errorf("got %+v", p)
	}
}

// TestWrittenPacketsSayTheirOwnSizes writes packets whose lengths nobody has set.
func TestWrittenPacketsSayTheirOwnSizes(t *testing.T) {
	u := ip.Udp{Sport: 1, Dport: 2, Data: []byte("abc")}
	datagram, err := u.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := ip.NewIpv4()
	p.Protocol, p.Data = 17, datagram
	p.Options.RouterAlertPresent = true
	out, err := p.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back ip.Ipv4
	if n, err := back.Decode(out); err != nil || n != len(out) || back.Ihl != 6 || int(back.TotalLength) != len(out) {
		t.Errorf("%d of %d, %v: %+v", n, len(out), err, back)
	}
	if err := ip.VerifyIpv4(out); err != nil {
		t.Error(err)
	}
	p.Data = make([]byte, 65535)
	if _, err := p.Append(nil); failureOf(err).code != "E_NOFIT" {
		t.Errorf("a packet that is too long: %v", err)
	}
}
