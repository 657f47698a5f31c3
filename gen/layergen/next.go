// SPDX-License-Identifier: Apache-2.0

package layergen

import (
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// next is how the layer behind a layer is chosen.
type next struct {
	Body    string // of the function that chooses it
	By      string // the items whose numbers choose it; empty = none
	Layers  bool   // it asks gopacket's own registers
	Choices bool   // the package has a table for it
}

// registers are gopacket's types of numbers that know their layer.
var registers = map[string]string{"ethertype": "EthernetType", "ip_protocol": "IPProtocol", "udp_port": "UDPPort", "tcp_port": "TCPPort"}

// protocols are the layers of payloads that are always the same.
var protocols = map[string]string{"ethernet": "LayerTypeEthernet", "ipv4": "LayerTypeIPv4", "ipv6": "LayerTypeIPv6"}

// nextOf prints how the next layer of l is chosen; nil when it never is.
func nextOf(l *layer) *next {
	n := &next{}
	f := &finder{codec: l.Package.Codec, refused: l.Package.refused}
	f.show = func(at place, it *gen.Item, _ trailer) { n.payload(f, l, at, it) }
	f.none = func(trailer) { f.line("return gopacket.LayerTypePayload") }
	n.Body = f.root(l)
	if !n.Layers && !n.Choices {
		return nil
	}
	return n
}

// payload prints the choice for one payload: the table of this package for its numbers, then gopacket's register of them.
// All payloads of a packet share that table, so they must be chosen by the same numbers.
func (n *next) payload(f *finder, l *layer, at place, it *gen.Item) {
	register := it.Span.Next
	if register != nil && !register.Register {
		n.Layers = true
		f.line("return layers.%s", protocols[register.Name])
		return
	}
	var names []string
	for _, r := range it.Span.By {
		names = append(names, r.String())
	}
	if by := strings.Join(names, " or "); by != "" {
		if n.Choices && n.By != by {
			f.fail(it, "payloads whose protocol is named by `%s` and by `%s`", n.By, by)
		}
		n.By, n.Choices = by, true
	}
	for _, r := range it.Span.By {
		number := f.reach(at, r).expr
		if last := r.Last(); last != nil && (last.Scalar.Flag || last.Scalar.Signed) {
			f.fail(last, "`%s` is no number that can choose the next layer", last.Name.Schema)
			return
		}
		f.line("if next, ok := %sTable[uint64(%s)]; ok {\nreturn next\n}", l.Local, number)
		if register != nil {
			n.Layers = true
			f.line("if next := layers.%s(%s).LayerType(); next != gopacket.LayerTypeZero && next != gopacket.LayerTypePayload {\nreturn next\n}",
				registers[register.Name], number)
		}
	}
	f.none(trailer{})
}
