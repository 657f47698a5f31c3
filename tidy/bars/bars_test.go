// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
	"github.com/openmetaroce/metaroce/tidy/bars/write"
)

func TestJudgeRefusesRoundsThatDisagree(t *testing.T) {
	steady := slices.Repeat(samples{1, 1.02, 1.04}, 4)
	noisy := slices.Repeat(samples{1, 1.2, 2}, 4)
	for _, c := range []struct {
		s    samples
		want figure
	}{
		{slices.Clone(steady), figure{Value: 1.02, Limit: 1.02, Spread: 0.039, Rounds: 12, Verdict: met}},
		{slices.Clone(steady), figure{Value: 1.02, Limit: 1.01, Spread: 0.039, Rounds: 12, Verdict: missed}},
		{noisy, figure{Limit: 5, Spread: 0.833, Rounds: 12, Verdict: refused}},
		{steady[:9], figure{Limit: 5, Spread: 0.039, Rounds: 9, Verdict: refused}},
		{samples{40}, figure{Value: 40, Limit: 40, Rounds: 1, Verdict: met}},
		{samples{0}, figure{Rounds: 1, Verdict: met}},
		{nil, figure{Verdict: refused}},
	} {
		if diff := cmp.Diff(c.want, bar{limit: c.want.Limit}.judge(c.s)); diff != "" {
			t.Error(diff)
		}
	}
}

// everything lets cmp see unexported fields.
var everything = cmp.Exporter(func(reflect.Type) bool { return true })

// variants are the good packet, and bad ones that differ from it in one byte.
func variants() [][]byte {
	good := writePacket()
	out := [][]byte{good, good[:55], good[:20], nil}
	for _, at := range []int{0, 1, 22, 28, 32, 35} {
		bad := slices.Clone(good)
		bad[at] ^= 0x3f
		out = append(out, bad)
	}
	return out
}

func TestDecodersOfOneWriteAgree(t *testing.T) {
	for i, src := range variants() {
		var hand, viewed handWrite
		var one write.Write
		var parts structs
		_, handErr := hand.decode(src)
		_, viewedErr := viewed.viewed(src)
		_, oneErr := one.Decode(src)
		if ok := handErr == nil; ok != (viewedErr == nil) || ok != (oneErr == nil) || ok != parts.decode(src) || i == 0 && !ok {
			t.Fatalf("packet %d: by hand %v, views %v, struct %v, structs %t", i, handErr, viewedErr, oneErr, parts.decode(src))
		}
		if handErr != nil {
			continue
		}
		if diff := cmp.Diff(hand, viewed, everything); diff != "" {
			t.Errorf("packet %d: views: %s", i, diff)
		}
		got := handWrite{handBase: handBase{
			version: one.Base.Version, secure: one.Base.Secure, keyPhase: one.Base.KeyPhase, ackRequest: one.Base.AckRequest,
			feedback: one.Base.FeedbackHere, opcode: uint8(one.Base.Opcode), path: one.Base.Path, epoch: one.Base.Epoch, tag: one.Base.Tag,
			psn: one.Base.Psn, tsn: one.Base.Tsn,
		},
			stream: one.Message.Stream, immediate: one.Message.Immediate, solicited: one.Message.Solicited,
			floor: one.Message.Floor, message: one.Message.Message, offset: one.Message.Offset, length: one.Message.Length, data: one.Data, crc: one.Crc,
		}
		got.target.key, got.target.at = one.Target.Key, one.Target.At
		if diff := cmp.Diff(hand, got, everything); diff != "" {
			t.Errorf("packet %d: struct: %s", i, diff)
		}
	}
}

func TestPacketByHandIsThePacket(t *testing.T) {
	for i, src := range variants() {
		var hand, generated wire.Packet
		n, handErr := handPacket(&hand, src)
		m, err := generated.Decode(src)
		if n != m || (handErr == nil) != (err == nil) {
			t.Fatalf("packet %d: by hand %d, %v; generated %d, %v", i, n, handErr, m, err)
		}
		if diff := cmp.Diff(hand, generated); err == nil && diff != "" {
			t.Errorf("packet %d: %s", i, diff)
		}
	}
}

func TestLayerContestantsAcceptTheirPackets(t *testing.T) {
	for _, c := range layerContests() {
		if !c.ours() || !c.rival() {
			t.Errorf("%s: refused", c.name)
		}
	}
}

func TestLargeSchemaIsOne(t *testing.T) {
	text := largeSchema()
	if len(text) < schemaBytes {
		t.Errorf("%d bytes", len(text))
	}
	if _, diags := gen.Compile("large.mrs", []byte(text[:bytes.LastIndex([]byte(text[:20_000]), []byte("\n/// What packet"))])); len(diags) > 0 {
		t.Error(diags)
	}
}

func TestReportIsJSON(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bars.json")
	if err := run(bars(new(tool)), "allocations", name); err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Bars) != 1 || r.Bars[0].Verdict != met || r.Bars[0].Value != 0 {
		t.Errorf("%+v", r)
	}
}
