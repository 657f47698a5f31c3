// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openmetaroce/metaroce/gen"
)

func rootOf(t *testing.T, p *gen.Protocol, name string) *gen.Struct {
	t.Helper()
	for _, s := range p.Structs {
		if s.Packet && s.Name.Schema == name {
			return s
		}
	}
	t.Fatalf("the schema has no packet %s", name)
	return nil
}

func TestDissectorAgreesWithVectors(t *testing.T) {
	p := loadProtocol(t)
	agree(t, p, loadVectors(t, p))
}

// agree fails unless the dissector of p shows what the vectors say, field by field, and the same errors.
func agree(t *testing.T, p *gen.Protocol, vectors []*vector) {
	t.Helper()
	var frames []frame
	for _, v := range vectors {
		frames = append(frames, frame{v.data, -1})
	}
	pcap := writePcap(t, p.Targets.UDPPort, frames)
	known := comparedItems(p)
	proto := p.Targets.LuaProto
	shown := readPDML(t, tshark(t, generated(t, p), pcap, "-T", "pdml", "-o", proto+".crc:Always"), proto, known)
	if len(shown) != len(vectors) {
		t.Fatalf("tshark shows %d packets of %d", len(shown), len(vectors))
	}
	wrong := 0
	for i, v := range vectors {
		if diff := compareVector(t, p, v, shown[i]); diff != "" {
			t.Errorf("%s: %s", v.ID, diff)
			if wrong++; wrong == 20 {
				t.Fatal("too many differences")
			}
		}
	}
	t.Logf("%d vectors agree", len(vectors)-wrong)
}

func compareVector(t *testing.T, p *gen.Protocol, v *vector, d *dissected) string {
	t.Helper()
	proto := p.Targets.LuaProto
	switch {
	case d.broken != "":
		return "Lua error: " + d.broken
	case !d.isOurs:
		return "dissected as something else"
	case d.has(proto+".error") != v.Error.Code:
		return fmt.Sprintf("error %q, want %q", d.has(proto+".error"), v.Error.Code)
	}
	if !v.OK {
		if got := d.has(proto + ".error.path"); got != v.Error.Field {
			return fmt.Sprintf("%s at %q, want %q", v.Error.Code, got, v.Error.Field)
		}
		if got := d.has(proto + ".error.offset"); got != strconv.Itoa(v.Error.Off) {
			return fmt.Sprintf("%s at %s, want %d", v.Error.Code, got, v.Error.Off)
		}
		return ""
	}
	want := map[string][]string{}
	for path, text := range v.Fields {
		r := resolve(t, p, rootOf(t, p, v.Packet), path)
		if r.item == nil {
			continue
		}
		if text = wantedValue(r.item, text); text != "" {
			want[r.filter] = append(want[r.filter], text)
		}
	}
	addVectorMeaning(t, p, v, want)
	return compareValues(p, want, d)
}

// compareValues compares what a tree shows with the values by filter that it should.
func compareValues(p *gen.Protocol, want map[string][]string, d *dissected) string {
	known, kept := itemsByFilter(p), keptHeads(p)
	got := map[string][]string{}
	for name, values := range d.fields {
		if known[name] != nil || strings.HasSuffix(name, ".missing") || strings.HasSuffix(name, ".gaps") {
			got[name] = append([]string{}, values...)
		}
	}
	for name := range kept {
		// Every element of a list shows its whole head; what it does not keep is in no vector.
		for _, text := range want[name] {
			if !slices.Contains(d.fields[name], text) {
				return fmt.Sprintf("%s shows %v, want %s", name, d.fields[name], text)
			}
		}
		delete(want, name)
	}
	for _, m := range []map[string][]string{want, got} {
		for _, values := range m {
			sort.Strings(values)
		}
	}
	return cmp.Diff(want, got)
}

// addVectorMeaning adds what bit vectors say: the numbers before the last set bit whose bits are clear, and their runs.
func addVectorMeaning(t *testing.T, p *gen.Protocol, v *vector, want map[string][]string) {
	t.Helper()
	for path, text := range v.Fields {
		it := resolve(t, p, rootOf(t, p, v.Packet), path).item
		if it == nil || it.Kind != gen.KindBits || baseOf(it.Owner, it) == nil {
			continue
		}
		base := baseOf(it.Owner, it)
		from, err := strconv.ParseUint(v.Fields[strings.TrimSuffix(path, it.Name.Schema)+base.Name.Schema], 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		name := p.Targets.LuaProto + "." + it.Name.Filter
		missing, runs := clearBits(unhex(t, strings.TrimPrefix(text, "hex:")))
		for _, i := range missing {
			n := (from + uint64(i)) & (1<<uint(base.Scalar.Bits) - 1)
			want[name+".missing"] = append(want[name+".missing"], strconv.FormatUint(n, 10))
		}
		want[name+".gaps"] = append(want[name+".gaps"], strconv.Itoa(runs))
	}
}

func clearBits(b []byte) (missing []int, runs int) {
	last, open := -1, false
	for i := range 8 * len(b) {
		if b[i/8]&(0x80>>uint(i%8)) != 0 {
			last = i
		}
	}
	for i := range last + 1 {
		set := b[i/8]&(0x80>>uint(i%8)) != 0
		if !set {
			missing = append(missing, i)
			if !open {
				runs++
			}
		}
		open = !set
	}
	return missing, runs
}

// damaged are packets that come from vectors: cut short by the capture, and with random bytes changed.
func damaged(vectors []*vector, rng *rand.Rand) []frame {
	var frames []frame
	for _, v := range vectors {
		if v.OK && len(v.data) < 400 && rng.IntN(4) == 0 {
			for range 4 {
				frames = append(frames, frame{v.data, 1 + rng.IntN(len(v.data))})
			}
		}
	}
	frames = frames[:min(len(frames), 2000)]
	for range 2000 {
		v := vectors[rng.IntN(len(vectors))]
		b := append([]byte{}, v.data...)
		for range 1 + rng.IntN(3) {
			b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
		}
		if rng.IntN(4) == 0 {
			b = b[:1+rng.IntN(len(b))]
		}
		frames = append(frames, frame{b, -1})
	}
	return frames
}

func TestDissectorSurvivesDamage(t *testing.T) {
	p := loadProtocol(t)
	proto := p.Targets.LuaProto
	frames := damaged(loadVectors(t, p), rand.New(rand.NewPCG(1, 2)))
	pcap, script := writePcap(t, p.Targets.UDPPort, frames), generated(t, p)
	out := tshark(t, script, pcap, "-T", "fields", "-e", "_ws.lua.error", "-e", "frame.protocols", "-e", proto+".error", "-o", proto+".reserved:TRUE")
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if len(lines) != len(frames) {
		t.Fatalf("tshark shows %d packets of %d", len(lines), len(frames))
	}
	for i, line := range lines {
		cols := strings.Split(line, "\t")
		if cols[0] != "" || !strings.HasSuffix(cols[1], ":"+proto) && !strings.Contains(cols[1], ":"+proto+":") {
			t.Errorf("packet %d, % x (%d captured): %s", i+1, frames[i].payload, frames[i].captured, line)
		}
		if frames[i].captured >= 0 && cols[2] != "" {
			t.Errorf("packet %d is only captured in part, yet called wrong: %s", i+1, cols[2])
		}
	}
	summary := tshark(t, script, pcap)
	if n := strings.Count(string(summary), " "+p.Targets.LuaName+" "); n != len(frames) {
		t.Errorf("%d of %d summary lines say %s", n, len(frames), p.Targets.LuaName)
	}
}

func TestDissectorReportsExpertItemsWithoutTree(t *testing.T) {
	p := loadProtocol(t)
	want := map[string]int{}
	var frames []frame
	for _, v := range loadVectors(t, p) {
		if v.Error.Code != "" && v.Stage == "decode" {
			want[codeText(p, v.Error.Code)]++
			frames = append(frames, frame{v.data, -1})
		}
	}
	out := string(tshark(t, generated(t, p), writePcap(t, p.Targets.UDPPort, frames), "-q", "-z", "expert,error"))
	for _, c := range p.Codes {
		line := regexp.MustCompile(`(?m)^\s*(\d+)\s+Malformed\s+\S+\s+(?:\S+: )?` + regexp.QuoteMeta(c.Text) + `$`)
		got := 0
		for _, m := range line.FindAllStringSubmatch(out, -1) {
			n, _ := strconv.Atoi(m[1])
			got += n
		}
		if got != want[c.Text] {
			t.Errorf("%s: %d expert items, want %d", c.Name, got, want[c.Text])
		}
	}
}

func codeText(p *gen.Protocol, name string) string {
	for _, c := range p.Codes {
		if c.Name == name {
			return c.Text
		}
	}
	return name
}
