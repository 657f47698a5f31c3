// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/vectorgen"
)

// question is a packet that the codecs are asked about, and the interpreter's answer.
type question struct {
	packet string
	params map[string]string
	data   []byte
	want   answer
}

// answer is what a codec says.
type answer struct {
	fault     string // "E_SHORT 3 path.of.item"; empty = accepted
	used      int
	fields    map[string]string
	bytes     string // what encoding gives, in hex; "-" = it is refused
	canonical bool   // encoding gives the bytes that were decoded; of the interpreter
	copied    string // what encoding gives when arrays and lists are still the input's bytes
	invalid   string // why what was decoded is not valid: it does not fit without the elements that are not kept
}

// ask collects the vectors, and damaged and random packets.
func (s *subject) ask() error {
	for _, st := range s.packets() {
		vectors, err := s.vectors(st)
		if err != nil {
			return err
		}
		h := fnv.New64()
		h.Write([]byte(s.text))
		dice := rand.New(rand.NewPCG(h.Sum64(), 1))
		all := vectors
		for range s.noises {
			all = append(all, noise(dice, st, vectors))
		}
		for _, q := range all {
			if err := s.judge(&q); err != nil {
				return err
			}
			s.questions = append(s.questions, q)
		}
	}
	return nil
}

// vectors are those of one packet.
func (s *subject) vectors(st *gen.Struct) ([]question, error) {
	files, err := vectorgen.Generate(s.p)
	if err != nil {
		return nil, nil // that is noted already
	}
	var d struct{ Vectors []*vectorgen.Vector }
	if err := json.Unmarshal(files[0].Data, &d); err != nil {
		return nil, err
	}
	var out []question
	for _, v := range d.Vectors {
		if v.Packet == st.Name.Schema {
			b, err := hex.DecodeString(v.Hex)
			if err != nil {
				return nil, err
			}
			out = append(out, question{packet: v.Packet, params: v.Params, data: b})
		}
	}
	return out, nil
}

// noise damages a vector, or makes bytes out of nothing.
func noise(dice *rand.Rand, st *gen.Struct, vectors []question) question {
	q := question{packet: st.Name.Schema}
	if len(vectors) > 0 && dice.IntN(8) > 0 {
		from := vectors[dice.IntN(len(vectors))]
		q.params, q.data = maps.Clone(from.params), slices.Clone(from.data[:min(len(from.data), 400)])
	} else {
		q.data = make([]byte, dice.IntN(max(1, st.Min)+40))
		for i := range q.data {
			q.data[i] = byte(dice.Uint32() >> dice.IntN(9))
		}
	}
	for range 1 + dice.IntN(3) {
		at := dice.IntN(len(q.data) + 1)
		switch dice.IntN(8) {
		case 0:
			q.data = q.data[:at]
		case 1:
			q.data = append(q.data, make([]byte, dice.IntN(9))...)
		case 2:
			q.data = slices.Insert(q.data, at, byte(dice.Uint32()))
		case 3:
			if len(vectors) > 0 {
				other := vectors[dice.IntN(len(vectors))].data
				q.data = append(slices.Clone(q.data[:at]), other[min(at, len(other)):]...)
			}
		default:
			if at < len(q.data) {
				q.data[at] ^= 1 << dice.IntN(8)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.params)) {
		if dice.IntN(12) == 0 {
			delete(q.params, name)
		}
	}
	return q
}

// arguments are the parameters as the interpreter takes them.
func (s *subject) arguments(q *question) ([]*gen.Value, error) {
	st := s.p.StructNamed(q.packet)
	out := make([]*gen.Value, len(st.Params))
	for i, p := range st.Params {
		text, given := q.params[p.Name.Schema]
		kind, digits, isHeader := strings.Cut(text, " hex:")
		switch {
		case given && isHeader:
			b, err := hex.DecodeString(digits)
			if err != nil {
				return nil, err
			}
			if out[i], err = gen.Header(s.p, kind, b); err != nil {
				return nil, err
			}
		case given:
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return nil, err
			}
			out[i] = gen.Number(n)
		}
	}
	return out, nil
}

// judge asks the interpreter.
func (s *subject) judge(q *question) error {
	args, err := s.arguments(q)
	if err != nil {
		return err
	}
	v, n, err := gen.Decode(s.p, q.packet, q.data, args...)
	if err == nil {
		_, err = gen.VerifyDecoded(s.p, v, q.data, args...)
	}
	var e *gen.DecodeError
	if errors.As(err, &e) {
		q.want = answer{fault: fmt.Sprintf("%s %d %s", e.Code.Name, e.Off, e.Field)}
		return nil
	}
	if err != nil {
		return err
	}
	q.want = answer{used: n, fields: gen.Flatten(v), bytes: "-"}
	again, err := gen.Encode(s.p, v, args...)
	if err == nil {
		q.want.bytes = hex.EncodeToString(again)
		q.want.canonical = bytes.Equal(again, q.data[:n])
	} else if !errors.As(err, &e) {
		return fmt.Errorf("%x decodes but does not encode: %w", q.data, err)
	}
	return nil
}

// line is the question as the programs read it.
func (q *question) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "verify %s %x", q.packet, q.data)
	for _, name := range slices.Sorted(maps.Keys(q.params)) {
		fmt.Fprintf(&b, " %s=%s", name, strings.ReplaceAll(q.params[name], " hex:", ":"))
	}
	return b.String() + "\n"
}

// parse reads the answers of a program: "ok 60", PATH=VALUE, "pack HEX", or "error CODE OFF PATH"; each ends with a line ".".
func parse(out string) (all []answer, err error) {
	a := answer{}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		path, value, isField := strings.Cut(line, "=")
		switch {
		case line == ".":
			all = append(all, a)
			a = answer{}
		case word == "ok":
			a.fields = map[string]string{}
			if a.used, err = strconv.Atoi(rest); err != nil {
				return nil, err
			}
		case word == "error":
			a.fault = rest
		case word == "pack" || word == "rebuild":
			if a.bytes = rest; strings.HasPrefix(rest, "E_") {
				a.bytes = "-"
			}
			if word == "pack" {
				a.copied = a.bytes
			}
		case word == "invalid":
			a.invalid = rest
		case word == "lint":
		case isField && a.fields != nil:
			if digits, ok := strings.CutPrefix(value, "utf8:"); ok {
				text, err := hex.DecodeString(digits)
				if err != nil {
					return nil, err
				}
				value = "text:" + string(text)
			}
			a.fields[path] = value
		default:
			return nil, fmt.Errorf("unexpected line %q", line)
		}
	}
	return all, nil
}
