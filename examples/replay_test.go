// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/vectorgen"
)

// schemas are the names of the example schemas.
var schemas = []string{"ip", "vxlan", "geneve", "gre", "rocev2", "ptp", "bfd"}

func load(t testing.TB, name string) *gen.Protocol {
	t.Helper()
	p, err := gen.Load("../schema/examples/" + name + ".mrs")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// failure is an error of any of the generated packages.
type failure struct {
	code   string
	number int
	field  string
	off    int
}

func failureOf(err error) failure {
	v := reflect.ValueOf(err)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return failure{}
	}
	v = v.Elem()
	code := v.FieldByName("Code")
	if !code.IsValid() {
		return failure{}
	}
	return failure{code.MethodByName("String").Call(nil)[0].String(), int(code.Uint()), v.FieldByName("Field").String(), int(v.FieldByName("Off").Int())}
}

// TestVectorsReplay lets the generated codecs read what the interpreter has made of the example schemas.
func TestVectorsReplay(t *testing.T) {
	for _, name := range schemas {
		t.Run(name, func(t *testing.T) {
			r := &replayer{t: t}
			for _, v := range vectors(t, name) {
				r.replay(&v)
			}
			if r.accepted == 0 || r.rejected == 0 {
				t.Errorf("%d accepted, %d rejected", r.accepted, r.rejected)
			}
			t.Logf("%d accepted, %d rejected, %d canonical", r.accepted, r.rejected, r.canonical)
		})
	}
}

type replayer struct {
	t                             *testing.T
	values                        values
	accepted, rejected, canonical int
}

func (r *replayer) replay(v *vectorgen.Vector) {
	src, err := hex.DecodeString(v.Hex)
	if err != nil {
		r.t.Fatal(err)
	}
	c := r.values.codec(r.t, v.Packet, v.Params)
	n, err := c.decode(src)
	if v.Stage == "verify" && err == nil {
		err = c.verify(src)
	}
	if !v.OK {
		r.rejected++
		want := failure{v.Error.Code, v.Error.Number, v.Error.Field, v.Error.Off}
		if got := failureOf(err); got != want {
			r.t.Errorf("%s: %+v (%v), want %+v\n%s", v.ID, got, err, want, v.Hex)
		}
		return
	}
	r.accepted++
	if err != nil || n != v.Consumed {
		r.t.Errorf("%s: %d of %d, %v\n%s", v.ID, n, v.Consumed, err, v.Hex)
		return
	}
	fields := map[string]string{}
	c.fields(func(path, value string) { fields[path] = value })
	if diff := cmp.Diff(v.Fields, fields); diff != "" {
		r.t.Errorf("%s: %s", v.ID, diff)
	}
	if c.verify != nil {
		if err := c.verify(src); err != nil {
			r.t.Errorf("%s: verify: %v", v.ID, err)
		}
	}
	if err := c.validate(); err != nil {
		r.t.Errorf("%s: validate: %v", v.ID, err)
	}
	r.encode(v, c, src[:n])
}

// encode writes the value anew.
func (r *replayer) encode(v *vectorgen.Vector, c codec, src []byte) {
	out, err := c.append(nil)
	if err == nil && c.resum != nil {
		err = c.resum(out)
	}
	if err != nil || bytes.Equal(out, src) != *v.Canonical {
		r.t.Errorf("%s: append gives\n%x, %v, for\n%x, canonical %v", v.ID, out, err, src, *v.Canonical)
	}
	if size, err := c.length(); err != nil || size != len(out) {
		r.t.Errorf("%s: length %d, %v, want %d", v.ID, size, err, len(out))
	}
	raw, err := c.raw(nil)
	if err != nil || *v.Canonical && !bytes.Equal(raw, src) {
		r.t.Errorf("%s: raw append gives\n%x, %v, for\n%x", v.ID, raw, err, src)
	}
	if *v.Canonical {
		r.canonical++
	}
}
