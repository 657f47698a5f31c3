// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// inject hands an end a packet from the other one that a script has written field by field.
func (s *stage) inject(words []string) error {
	if len(words) < 2 || slices.Index(endNames, words[0]) < 0 {
		return fmt.Errorf("inject END OPCODE FIELDS")
	}
	to := slices.Index(endNames, words[0])
	opcode, err := opcodeOf(words[1])
	if err != nil {
		return err
	}
	var p wire.Packet
	p.Base = wire.Base{Version: 1, Opcode: opcode, Tag: s.tags[to], Psn: s.first[1-to], Tsn: s.first[1-to]}
	if opcode >= wire.OpcodeOpen && opcode <= wire.OpcodeVersions {
		p.Base.Psn, p.Base.Tsn = 0, 0
	}
	port, ecn := uint16(0), uint8(engine.ECT0)
	for _, w := range words[2:] {
		if w == "marked" {
			ecn = engine.CE
			continue
		}
		field, value, _ := strings.Cut(w, "=")
		if field == "port" {
			n, err := strconv.ParseUint(value, 10, 16)
			if err != nil {
				return err
			}
			port = uint16(n)
			continue
		}
		if err := s.assign(reflect.ValueOf(&p).Elem(), 1-to, field, value); err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
	}
	b, err := encode(p)
	if err != nil {
		return err
	}
	d := engine.Datagram{Route: routes(256)[p.Base.Path&255], ECN: ecn, Bytes: b}
	if port != 0 {
		d.Route = routes(int(port) - 10000 + 1)[port-10000]
	}
	if to == 0 {
		d.Route.Local, d.Route.Remote = d.Route.Remote, d.Route.Local
	}
	s.line("%s>%s %s  // injected", endNames[1-to], endNames[to], s.packetText(1-to, d))
	d.Route.Local, d.Route.Remote = d.Route.Remote, d.Route.Local
	s.arrive(flight{s.now, to, d})
	return nil
}

// encode writes a packet of any version, with a true checksum.
func encode(p wire.Packet) ([]byte, error) {
	version := p.Base.Version
	p.Base.Version = 1
	b, err := p.Append(nil)
	if err != nil {
		return nil, err
	}
	b[0] = b[0]&15 | version<<4
	body := len(b) - 4
	binary.BigEndian.PutUint32(b[body:], crc32.Checksum(b[:body], crc32.MakeTable(crc32.Castagnoli)))
	return b, nil
}

var fieldStep = regexp.MustCompile(`^([a-z_]+)(?:\[([0-9]+)\])?$`)

// assign sets one field, named as in the schema: base.psn, ack.blocks[0].sack, write.message.offset.
func (s *stage) assign(v reflect.Value, from int, field, value string) error {
	if !strings.HasPrefix(field, "base.") {
		field = "plain." + field
	}
	for _, step := range strings.Split(field, ".") {
		parts := fieldStep.FindStringSubmatch(step)
		if parts == nil || v.Kind() != reflect.Struct {
			return fmt.Errorf("no field %q", step)
		}
		name := strings.ReplaceAll(parts[1], "_", "")
		v = v.FieldByNameFunc(func(n string) bool { return strings.EqualFold(n, name) })
		if !v.IsValid() {
			return fmt.Errorf("no field %q", step)
		}
		if parts[2] != "" {
			i, _ := strconv.Atoi(parts[2])
			for v.Len() <= i {
				v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			}
			v = v.Index(i)
		}
	}
	return s.set(v, from, value)
}

func (s *stage) set(v reflect.Value, from int, value string) error {
	switch v.Interface().(type) {
	case wire.Bits256:
		var bits wire.Bits256
		for _, bit := range strings.Split(value, ",") {
			n, err := strconv.Atoi(bit)
			if err != nil {
				return err
			}
			bits.Set(n)
		}
		v.Set(reflect.ValueOf(bits))
		return nil
	case []byte:
		var fill byte
		var n int
		if _, err := fmt.Sscanf(value, "%dx%d", &fill, &n); err != nil {
			return err
		}
		v.SetBytes(bytes.Repeat([]byte{fill}, n))
		return nil
	case bool:
		v.SetBool(value == "1")
		return nil
	}
	n, err := s.value(from, value)
	if err != nil {
		return err
	}
	if v.CanInt() {
		v.SetInt(int64(n))
	} else {
		v.SetUint(n)
	}
	return nil
}

// value is a number: plain, counted from a first number, the key of a region, or the tag that names an end (tagA, tagB).
func (s *stage) value(from int, text string) (uint64, error) {
	if key, ok := s.keys[text]; ok {
		return uint64(key), nil
	}
	if side := slices.Index([]string{"tagA", "tagB"}, text); side >= 0 {
		return s.tags[side], nil
	}
	for prefix, side := range map[string]int{"first": from, "peer": 1 - from} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			n, err := strconv.ParseInt(rest, 10, 64)
			return uint64(s.space().Add(s.first[side], n)), err
		}
	}
	return strconv.ParseUint(text, 0, 64)
}
