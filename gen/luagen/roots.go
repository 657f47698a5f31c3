// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// refusals begins to collect what has no form in Lua.
func refusals(p *gen.Protocol) *gen.Refusals {
	return p.Refusals("E0803", "the Lua backend cannot print this")
}

// refusal refuses a part of the schema.
func (g *generator) refusal(at gen.Declared, format string, args ...any) error {
	r := refusals(g.p)
	r.Add(at, format, args...)
	return r.Err()
}

// rootsOf lists the packets that dissection can begin with. It refuses the constructs that have no form in Lua, and schemas
// without such a packet.
func rootsOf(p *gen.Protocol) ([]*gen.Struct, error) {
	refused := refusals(p)
	refused.Features(gen.FeatureSized, gen.FeatureTail, gen.FeatureAlign, gen.FeatureCover, gen.FeatureOnes, gen.FeatureUnion,
		gen.FeatureDefault, gen.FeatureVector, gen.FeatureSigned, gen.FeatureSignedRange, gen.FeatureLittle, gen.FeatureLint,
		gen.FeatureListParam, gen.FeatureListKeys, gen.FeatureListHead, gen.FeatureListLength, gen.FeatureListBare,
		gen.FeatureListFill, gen.FeatureListStrict, gen.FeatureListUnknown)
	var roots []*gen.Struct
	missing := p.Refusals("E0803", "the Lua backend cannot begin here")
	for _, s := range p.Structs {
		if !s.Packet {
			continue
		}
		if param := missingParam(s); param != nil {
			missing.Add(param, "`%s` of `%s` is a parameter that only a caller can give, and there is no other packet to begin with", param.Name.Schema, s.Name.Schema).
				Help("give it a default of at most 32 bits, or declare a packet without parameters")
			continue
		}
		roots = append(roots, s)
	}
	if roots == nil && missing.None() {
		missing.Add(nil, "the schema has no packet").Help("declare a packet; a header is none")
	}
	if roots == nil {
		return nil, missing.Err()
	}
	return roots, refused.Err()
}

// missingParam is a parameter without which s cannot be read; nil = none.
func missingParam(s *gen.Struct) *gen.Param {
	for _, p := range s.Params {
		setting := p.Struct == nil && p.Any == nil && p.Default != nil && p.Bits <= 32
		if !p.Cover && !setting {
			return p
		}
	}
	return nil
}

// has answers the conditions of the hand-written pieces.
func (g *generator) has(what string) bool {
	switch what {
	case "many":
		return g.many()
	case "cover":
		return g.covers()
	case "deep":
		return g.deep()
	case "next":
		return len(g.nextItems()) > 0
	case "given":
		return g.given()
	case "lints":
		return g.lints()
	}
	panic("luagen: a piece asks for " + what)
}

// many reports whether the dissector must choose between packets, or pass settings to one.
func (g *generator) many() bool { return len(g.roots) > 1 || len(params(g.use, g.roots[0])) > 0 }

func (g *generator) lints() bool {
	for _, s := range g.structs {
		if len(s.Lints) > 0 {
			return true
		}
	}
	return false
}

// texts tells whether a string asks for more than UTF-8.
func (g *generator) texts() bool {
	return slices.ContainsFunc(g.structs, func(s *gen.Struct) bool {
		return slices.ContainsFunc(s.Items, func(it *gen.Item) bool { return it.Span != nil && (it.Span.ASCII || it.Span.Padded) })
	})
}

// runtimes prints the pieces that decode functions call.
func (g *generator) runtimes() {
	if g.deep() {
		g.line("local sum_path = {} -- items of the checksum fields met")
	}
	if g.covers() {
		g.embed(runtimeCover)
	}
	if g.lints() {
		g.embed(runtimeLint)
	}
	if g.texts() {
		g.embed(runtimeText)
	}
	if len(g.lists) == 0 {
		return
	}
	g.embed(runtimeValue)
	if g.general() {
		g.embed(runtimeTLV)
	} else {
		g.embed(runtimeList)
	}
}

// setting is the preference of a packet's parameter.
type setting struct {
	param *gen.Param
	name  string
}

// settings lists the preferences. Packets whose parameters have one name and width share it.
func (g *generator) settings() ([]setting, error) {
	var all []setting
	taken := map[string]*gen.Param{"port": nil, "crc": nil, "reserved": nil, "split": nil}
	for _, s := range g.roots {
		for _, v := range params(g.use, s) {
			p := v.ref.Param
			name := strings.ToLower(p.Name.Schema)
			old, clash := taken[name]
			if clash && (old == nil || old.Bits != p.Bits || *old.Default != *p.Default) {
				return nil, g.refusal(p, "the preference of the parameter `%s` has the name of another one", name)
			}
			if !clash {
				all = append(all, setting{p, name})
			}
			taken[name] = p
		}
	}
	return all, nil
}

// beginRoots prints what the dissector begins with.
func (g *generator) beginRoots() error {
	if !g.many() {
		g.line("local root = D.%s", g.roots[0].Name.Filter)
		return nil
	}
	all, err := g.settings()
	if err != nil {
		return err
	}
	g.line("local settings = {} -- numbers that packets take as parameters")
	g.line("local root, title -- the packet that is being decoded, and its name")
	g.line("local first_root, first_title = %s, %s", g.rootText(g.roots[0]), quote(g.roots[0].Name.Schema+" "))
	for _, s := range all {
		if s.param.Bits == 1 {
			on := *s.param.Default != 0
			g.line("settings.%s = %t", s.name, on)
			g.line("proto.prefs.%s = Pref.bool(%s, %t, \"Parameter of the packet\")", s.name, quote(label(s.param.Name)), on)
			continue
		}
		g.line("settings.%s = %d", s.name, *s.param.Default)
		g.line("proto.prefs.%s = Pref.uint(%s, %d, \"Parameter of the packet\")", s.name, quote(label(s.param.Name)), *s.param.Default)
	}
	g.line("")
	return nil
}

// endRoots prints the dissectors of the packets and where they are found.
func (g *generator) endRoots() {
	if g.many() {
		g.dissectors()
	} else if g.p.Targets.UDPPort == 0 {
		g.elsewhere("proto")
	}
	for _, port := range g.p.Targets.MorePorts {
		g.line("DissectorTable.get(\"udp.port\"):add(%d, proto)", port)
	}
}

// elsewhere offers a dissector for Decode As beside UDP.
func (g *generator) elsewhere(proto string) {
	g.open("for _, name in ipairs({ \"ip.proto\", \"ethertype\", \"tcp.port\" }) do")
	g.line("DissectorTable.get(name):add_for_decode_as(%s)", proto)
	g.shut("end")
}

func (g *generator) dissectors() {
	g.elsewhere("proto")
	for _, s := range g.roots[1:] {
		name := "proto_" + s.Name.Filter
		g.line("local %s = Proto(PROTO .. %s, TITLE .. %s)", name, quote("_"+s.Name.Filter), quote(": "+s.Name.Schema))
		g.open("function %s.dissector(buf, pinfo, tree)", name)
		g.line("root, title = %s, %s", g.rootText(s), quote(s.Name.Schema+" "))
		g.line("return packet(buf, pinfo, tree)")
		g.shut("end")
		g.line("DissectorTable.get(\"udp.port\"):add_for_decode_as(%s)", name)
		g.elsewhere(name)
		g.line("")
	}
}

// rootText is the function that decodes a packet, with its settings.
func (g *generator) rootText(s *gen.Struct) string {
	ps := params(g.use, s)
	if len(ps) == 0 {
		return "D." + s.Name.Filter
	}
	args := []string{"o", "stop", "t"}
	for _, v := range ps {
		args = append(args, "settings."+strings.ToLower(v.ref.Param.Name.Schema))
	}
	return fmt.Sprintf("function(o, stop, t) return D.%s(%s) end", s.Name.Filter, strings.Join(args, ", "))
}
