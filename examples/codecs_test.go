// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/examples/bfd/control"
	"github.com/openmetaroce/metaroce/examples/inet/geneve"
	"github.com/openmetaroce/metaroce/examples/inet/gre"
	"github.com/openmetaroce/metaroce/examples/inet/ip"
	"github.com/openmetaroce/metaroce/examples/inet/vxlan"
	ptp "github.com/openmetaroce/metaroce/examples/ptp/v2"
	rocev2 "github.com/openmetaroce/metaroce/examples/rocev2/wire"
)

// given are a vector's parameters by name.
type given map[string]string

// number is a parameter that is a number; 0 when it is not given.
func (g given) number(t testing.TB, name string) uint8 {
	t.Helper()
	if g[name] == "" {
		return 0
	}
	n, err := strconv.ParseUint(g[name], 10, 8)
	if err != nil {
		t.Fatal(err)
	}
	return uint8(n)
}

// header is a parameter that is a header: its name and its bytes.
func (g given) header(t testing.TB, name string) (kind string, data []byte) {
	t.Helper()
	kind, text, ok := strings.Cut(g[name], " hex:")
	data, err := hex.DecodeString(text)
	if g[name] != "" && !ok || err != nil {
		t.Fatalf("parameter %s: %q: %v", name, g[name], err)
	}
	return kind, data
}

func ipOuter(t testing.TB, g given, name string) ip.Outer {
	kind, data := g.header(t, name)
	return ip.Outer{Kind: map[string]ip.OuterKind{"Pseudo4": ip.OuterPseudo4, "Pseudo6": ip.OuterPseudo6}[kind], Bytes: data}
}

func roceOuter(t testing.TB, g given, name string) rocev2.Outer {
	kind, data := g.header(t, name)
	kinds := map[string]rocev2.OuterKind{"Ipv4": rocev2.OuterIpv4, "Ipv6": rocev2.OuterIpv6, "Udp": rocev2.OuterUdp}
	return rocev2.Outer{Kind: kinds[kind], Bytes: data}
}

// codec is one packet's generated code. Its functions share one value, so that what an earlier packet left behind shows.
type codec struct {
	decode      func(src []byte) (int, error)
	fields      func(yield func(path, value string))
	validate    func() error
	length      func() (int, error)
	append, raw func(dst []byte) ([]byte, error)
	verify      func(src []byte) error // nil = no checksum
	resum       func(src []byte) error
}

// packetOf is what packets without parameters have in common.
type packetOf interface {
	Decode(src []byte) (int, error)
	Fields(yield func(path, value string))
	Validate() error
	Len() (int, error)
	Append(dst []byte) ([]byte, error)
	AppendRaw(dst []byte) ([]byte, error)
}

func plain(p packetOf) codec {
	return codec{decode: p.Decode, fields: p.Fields, validate: p.Validate, length: p.Len, append: p.Append, raw: p.AppendRaw}
}

// summed adds what packets with checksums have.
func (c codec) summed(verify, resum func(src []byte) error) codec {
	c.verify, c.resum = verify, resum
	return c
}

func geneveCodec(t testing.TB, p *geneve.Geneve, g given) codec {
	strict := g.number(t, "strict")
	return codec{
		decode:   func(src []byte) (int, error) { return p.Decode(src, strict) },
		fields:   func(yield func(path, value string)) { p.Fields(strict, yield) },
		validate: func() error { return p.Validate(strict) },
		length:   func() (int, error) { return p.Len(strict) },
		append:   func(dst []byte) ([]byte, error) { return p.Append(dst, strict) },
		raw:      func(dst []byte) ([]byte, error) { return p.AppendRaw(dst, strict) },
	}
}

// values are the structs that all packets of a kind are decoded into.
type values struct {
	ipv4   ip.Ipv4
	ipv6   ip.Ipv6
	udp    ip.Udp
	tcp    ip.Tcp
	vxlan  vxlan.Vxlan
	geneve geneve.Geneve
	gre    gre.Gre
	roce   rocev2.RoceV2
	ptp    ptp.Ptp
	bfd    control.Bfd
}

// codec is the code for a packet with parameters.
func (v *values) codec(t testing.TB, packet string, g given) codec {
	t.Helper()
	switch packet {
	case "Ipv4":
		return plain(&v.ipv4).summed(ip.VerifyIpv4, ip.ResumIpv4)
	case "Ipv6":
		return plain(&v.ipv6)
	case "Udp":
		o := ipOuter(t, g, "pseudo")
		return plain(&v.udp).summed(func(b []byte) error { return ip.VerifyUdp(b, o) }, func(b []byte) error { return ip.ResumUdp(b, o) })
	case "Tcp":
		o := ipOuter(t, g, "pseudo")
		return plain(&v.tcp).summed(func(b []byte) error { return ip.VerifyTcp(b, o) }, func(b []byte) error { return ip.ResumTcp(b, o) })
	case "Vxlan":
		return plain(&v.vxlan)
	case "Geneve":
		return geneveCodec(t, &v.geneve, g)
	case "Gre":
		return plain(&v.gre).summed(gre.VerifyGre, gre.ResumGre)
	case "RoceV2":
		below, udp := roceOuter(t, g, "ip"), roceOuter(t, g, "udp")
		return plain(&v.roce).summed(
			func(b []byte) error { return rocev2.VerifyRoceV2(b, below, udp) },
			func(b []byte) error { return rocev2.ResumRoceV2(b, below, udp) })
	case "Ptp":
		return plain(&v.ptp)
	case "Bfd":
		return plain(&v.bfd)
	}
	panic(fmt.Sprintf("packet %s is not among the examples", packet))
}
