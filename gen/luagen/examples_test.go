// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/gopacket"
	"github.com/google/gopacket/pcapgo"
	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/vectorgen"
)

const exampleDir = "../../schema/examples"

// exampleNames are the schemas of common protocols.
var exampleNames = []string{"ip", "vxlan", "geneve", "gre", "rocev2", "ptp", "bfd"}

func exampleSchema(t testing.TB, name string) *gen.Protocol {
	t.Helper()
	p, err := gen.Load(filepath.Join(exampleDir, name+".mrs"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// userLink is a link type that tshark hands to the dissector that the command line names.
const userLink = 147

// asUser makes tshark read packets of userLink with a dissector.
func asUser(dissector string) []string {
	return []string{"-o", fmt.Sprintf(`uat:user_dlts:"User 0 (DLT=%d)","%s","0","","0",""`, userLink, dissector)}
}

// writeUserPcap writes packets that stand at the very start of their frames, and returns the file's path. captured is how
// much of each the capture holds; nil = all.
func writeUserPcap(t *testing.T, packets [][]byte, captured []int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "user.pcap")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := pcapgo.NewWriter(f)
	if err := w.WriteFileHeader(1<<18, userLink); err != nil {
		t.Fatal(err)
	}
	for i, b := range packets {
		info := gopacket.CaptureInfo{Timestamp: time.Unix(1_700_000_000, int64(i)*1000), Length: len(b), CaptureLength: len(b)}
		if captured != nil {
			info.CaptureLength = captured[i]
		}
		if err := w.WritePacket(info, b[:info.CaptureLength]); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// dissectorOf is the name under which a packet of p is dissected.
func dissectorOf(t *testing.T, p *gen.Protocol, packet string) string {
	t.Helper()
	roots, err := rootsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range roots {
		switch {
		case s.Name.Schema == packet && i == 0:
			return p.Targets.LuaProto
		case s.Name.Schema == packet:
			return p.Targets.LuaProto + "_" + s.Name.Filter
		}
	}
	t.Fatalf("%s has no dissector for %s", p.Package, packet)
	return ""
}

// batch is packets of one kind that are dissected with the same settings.
type batch struct {
	packet   string
	settings string // JSON object of the numbers that parameters have
	bytes    [][]byte
}

// batches sorts the vectors of a schema.
func batches(t *testing.T, p *gen.Protocol) []*batch {
	t.Helper()
	files, err := vectorgen.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Vectors []*vectorgen.Vector }
	if err := json.Unmarshal(files[0].Data, &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string]*batch{}
	for _, v := range doc.Vectors {
		numbers := map[string]string{}
		for name, text := range v.Params {
			if _, err := strconv.ParseUint(text, 10, 64); err == nil {
				numbers[name] = text
			}
		}
		settings, _ := json.Marshal(numbers)
		key := v.Packet + string(settings)
		if all[key] == nil {
			all[key] = &batch{packet: v.Packet, settings: string(settings)}
		}
		if b := unhex(t, v.Hex); len(b) > 0 {
			all[key].bytes = append(all[key].bytes, b)
		}
	}
	var out []*batch
	for _, key := range sortedKeys(all) {
		out = append(out, all[key])
	}
	return out
}

// numbers are the settings by parameter.
func (b *batch) numbers(t *testing.T) map[string]string {
	t.Helper()
	m := map[string]string{}
	if err := json.Unmarshal([]byte(b.settings), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// params are the settings as the interpreter wants them; headers are not given.
func (b *batch) params(t *testing.T, p *gen.Protocol) []*gen.Value {
	t.Helper()
	var out []*gen.Value
	for _, q := range p.StructNamed(b.packet).Params {
		var v *gen.Value
		if text, ok := b.numbers(t)[q.Name.Schema]; ok {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			v = gen.Number(n)
		}
		out = append(out, v)
	}
	return out
}

// options are the settings as tshark wants them.
func (b *batch) options(t *testing.T, p *gen.Protocol) []string {
	t.Helper()
	out := append([]string{"-T", "pdml", "-o", p.Targets.LuaProto + ".reserved:TRUE"}, asUser(dissectorOf(t, p, b.packet))...)
	for _, s := range p.StructNamed(b.packet).Items {
		if s.Kind == gen.KindScalar && s.Scalar.Sum != nil {
			out = append(out, "-o", p.Targets.LuaProto+".crc:Always")
		}
	}
	for name, text := range b.numbers(t) {
		if text == "1" {
			text = "TRUE"
		} else if text == "0" {
			text = "FALSE"
		}
		out = append(out, "-o", p.Targets.LuaProto+"."+name+":"+text)
	}
	return out
}

// verdict is what the interpreter says of a packet when nobody gives it headers.
type verdict struct {
	tree  *gen.Value
	bad   *gen.DecodeError
	lints []string
}

func (b *batch) ask(t *testing.T, p *gen.Protocol, data []byte) verdict {
	t.Helper()
	params := b.params(t, p)
	tree, _, err := gen.Decode(p, b.packet, data, params...)
	v := verdict{tree: tree}
	if err == nil {
		broken, lintErr := gen.Lint(p, b.packet, data, params...)
		if lintErr != nil {
			t.Fatal(lintErr)
		}
		for _, k := range broken {
			v.lints = append(v.lints, k.Text)
		}
		_, err = gen.VerifySums(p, b.packet, data, params...)
	}
	if err != nil && !errors.As(err, &v.bad) {
		t.Fatal(err)
	}
	return v
}

func TestDissectorsOfExampleSchemasAgreeWithTheInterpreter(t *testing.T) {
	for _, name := range exampleNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := exampleSchema(t, name)
			script := generated(t, p)
			for _, b := range batches(t, p) {
				b.agree(t, p, script)
			}
		})
	}
}

func (b *batch) agree(t *testing.T, p *gen.Protocol, script string) {
	t.Helper()
	shown := readPDML(t, tshark(t, script, writeUserPcap(t, b.bytes, nil), b.options(t, p)...), p.Targets.LuaProto, comparedItems(p))
	if len(shown) != len(b.bytes) {
		t.Fatalf("tshark shows %d packets of %d", len(shown), len(b.bytes))
	}
	wrong, bad := 0, 0
	for i, data := range b.bytes {
		v := b.ask(t, p, data)
		if v.bad != nil {
			bad++
		}
		if diff := b.compare(t, p, v, shown[i]); diff != "" {
			t.Errorf("%s %x: %s", b.packet, data, diff)
			if wrong++; wrong == 10 {
				t.Fatal("too many differences")
			}
		}
	}
	t.Logf("%s %s: %d packets agree, %d of them with an error", b.packet, b.settings, len(shown)-wrong, bad)
}

func (b *batch) compare(t *testing.T, p *gen.Protocol, v verdict, d *dissected) string {
	t.Helper()
	proto := p.Targets.LuaProto
	code, path, off := "", "", ""
	if v.bad != nil {
		code, path, off = v.bad.Code.Name, v.bad.Field, strconv.Itoa(v.bad.Off)
	}
	switch {
	case d.broken != "":
		return "Lua error: " + d.broken
	case !d.isOurs:
		return "dissected as something else"
	case d.has(proto+".error") != code || d.has(proto+".error.path") != path || d.has(proto+".error.offset") != off:
		return fmt.Sprintf("%s at %q, byte %s; want %s at %q, byte %s", d.has(proto+".error"), d.has(proto+".error.path"), d.has(proto+".error.offset"), code, path, off)
	case v.bad != nil:
		return ""
	}
	if diff := cmp.Diff(v.lints, d.fields[proto+".lint"]); diff != "" {
		return "notes: " + diff
	}
	return b.compareFields(t, p, v, d)
}

func (b *batch) compareFields(t *testing.T, p *gen.Protocol, v verdict, d *dissected) string {
	t.Helper()
	want, flat := map[string][]string{}, gen.Flatten(v.tree)
	for path, text := range flat {
		r := resolve(t, p, rootOf(t, p, b.packet), path)
		if r.item == nil {
			continue
		}
		if text = wantedValue(r.item, text); text != "" {
			want[r.filter] = append(want[r.filter], text)
		}
	}
	addVectorMeaning(t, p, &vector{Packet: b.packet, Fields: flat}, want)
	return compareValues(p, want, d)
}

// comparedItems lists the items whose values are compared.
func comparedItems(p *gen.Protocol) map[string]*gen.Item {
	m := itemsByFilter(p)
	maps.Copy(m, keptHeads(p))
	return m
}

// keptHeads lists the items of heads that elements keep, by filter.
func keptHeads(p *gen.Protocol) map[string]*gen.Item {
	m := map[string]*gen.Item{}
	for _, l := range p.Lists {
		for _, c := range l.Cases {
			for _, it := range c.Head {
				m[filterOf(p, l.Head, it)] = it
			}
		}
	}
	return m
}

func TestDissectorsOfExampleSchemasSurviveDamage(t *testing.T) {
	for _, name := range exampleNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := exampleSchema(t, name)
			rng := rand.New(rand.NewPCG(3, 4))
			script := generated(t, p)
			for _, b := range batches(t, p) {
				b.cut(t, p, script, rng)
				b.flip(rng)
				b.agree(t, p, script)
			}
		})
	}
}

// flip replaces the packets by ones in which some bytes differ.
func (b *batch) flip(rng *rand.Rand) {
	from := b.bytes
	b.bytes = nil
	for range 300 {
		data := append([]byte{}, from[rng.IntN(len(from))]...)
		for range 1 + rng.IntN(3) {
			data[rng.IntN(min(len(data), 80))] ^= byte(1 << rng.IntN(8))
		}
		b.bytes = append(b.bytes, data)
	}
}

// cut fails when a packet of which the capture holds only a part is called wrong, unless the interpreter rejects it as well.
func (b *batch) cut(t *testing.T, p *gen.Protocol, script string, rng *rand.Rand) {
	t.Helper()
	var packets [][]byte
	var captured []int
	for _, data := range b.bytes[:min(len(b.bytes), 100)] {
		packets, captured = append(packets, data), append(captured, 1+rng.IntN(len(data)))
	}
	shown := readPDML(t, tshark(t, script, writeUserPcap(t, packets, captured), b.options(t, p)...), p.Targets.LuaProto, comparedItems(p))
	for i, d := range shown {
		bad := b.ask(t, p, packets[i]).bad
		if got := d.has(p.Targets.LuaProto + ".error"); d.broken != "" || !d.isOurs || got != "" && (bad == nil || got != bad.Code.Name) {
			t.Errorf("%s %x, %d captured: %s, %s", b.packet, packets[i], captured[i], got, d.broken)
		}
	}
}
