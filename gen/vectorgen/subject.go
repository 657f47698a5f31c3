// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/openmetaroce/metaroce/gen"
)

// subject is a packet together with the parameters of its vectors.
type subject struct {
	st     *gen.Struct
	params []*gen.Value      // one per parameter; nil = not given
	shown  map[string]string // the same, as vectors write it; nil when none is given
}

// newSubject gives every parameter a value: its default, or a header for a parameter that only checksums read. It returns
// nil for a packet that needs another decoded header.
func newSubject(p *gen.Protocol, st *gen.Struct) (*subject, error) {
	args := make([]gen.Argument, len(st.Params))
	for i, q := range st.Params {
		header := q.Struct
		if q.Any != nil {
			header = q.Any[0]
		}
		switch {
		case q.Default != nil:
			args[i] = gen.Argument{Given: true, Number: *q.Default}
		case q.Cover:
			b, err := plainHeader(p, header)
			if err != nil {
				return nil, err
			}
			args[i] = gen.Argument{Given: true, Struct: header, Bytes: b}
		default:
			return nil, nil
		}
	}
	return subjectWith(p, st, args)
}

var errNested = errors.New("a header that is a parameter needs another one")

// plainHeader encodes a header with its least values.
func plainHeader(p *gen.Protocol, st *gen.Struct) ([]byte, error) {
	of, err := newSubject(p, st)
	if err == nil && of == nil {
		err = &unmadeError{st.Name.Filter, errNested}
	}
	if err != nil {
		return nil, err
	}
	s, err := newSeed(p, of, st.Name.Filter, plan{})
	if err != nil {
		return nil, err
	}
	return s.bytes, nil
}

func exampleSubject(p *gen.Protocol, e *gen.Example) (*subject, error) {
	return subjectWith(p, e.Struct, e.Params)
}

func subjectWith(p *gen.Protocol, st *gen.Struct, args []gen.Argument) (*subject, error) {
	params, err := p.Arguments(args)
	if err != nil {
		return nil, err
	}
	of := &subject{st: st, params: params}
	for i, a := range args {
		if !a.Given {
			continue
		}
		if of.shown == nil {
			of.shown = map[string]string{}
		}
		if of.shown[st.Params[i].Name.Schema] = strconv.FormatUint(a.Number, 10); a.Struct != nil {
			of.shown[st.Params[i].Name.Schema] = fmt.Sprintf("%s hex:%x", a.Struct.Name.Schema, params[i].Raw)
		}
	}
	return of, nil
}

// args is what the interpreter gives to expressions.
func (s *subject) args() map[*gen.Param]*gen.Value {
	if len(s.params) == 0 {
		return nil
	}
	out := map[*gen.Param]*gen.Value{}
	for i, p := range s.st.Params {
		if s.params[i] != nil {
			out[p] = s.params[i]
		}
	}
	return out
}

// key tells packets with different parameters apart.
func (s *subject) key() string {
	key := s.st.Name.Schema
	for _, name := range slices.Sorted(maps.Keys(s.shown)) {
		key += " " + name + "=" + s.shown[name]
	}
	return key
}
