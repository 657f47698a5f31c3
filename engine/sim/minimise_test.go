// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// forger is a network card that breaks what it must keep: when a Write is sent again, it changes a byte of the payload and
// makes the checksum true.
type forger struct {
	engine.Port
	seen map[[2]uint32]bool // message and offset
}

func (f *forger) Send(list []engine.Datagram) error {
	for _, d := range list {
		var w wire.Packet
		if _, err := w.Decode(d.Bytes); err != nil || w.Base.Opcode != wire.OpcodeWrite || len(w.Plain.Write.Data) == 0 {
			continue
		}
		id := [2]uint32{uint32(w.Plain.Write.Message.Stream)<<16 | w.Plain.Write.Message.Message, w.Plain.Write.Message.Offset}
		if f.seen[id] {
			body := len(d.Bytes) - 4
			d.Bytes[body-1]++
			binary.BigEndian.PutUint32(d.Bytes[body:], crc32.Checksum(d.Bytes[:body], crc32.MakeTable(crc32.Castagnoli)))
		}
		f.seen[id] = true
	}
	return f.Port.Send(list)
}

// runForged runs a Config with a forger at the opener.
func runForged(cfg Config) error {
	r, err := newRun(cfg)
	if err != nil {
		return err
	}
	h := r.hosts[0]
	h.pump.Port = &forger{h.pump.Port, map[[2]uint32]bool{}}
	return r.execute()
}

func TestMinimiserLeavesLittleOfAFailingSeed(t *testing.T) {
	cfg := Swarm(1)
	for seed := uint64(2); !errors.Is(runForged(cfg), ErrViolation) || len(cfg.Faults) < 10; seed++ {
		cfg = Swarm(seed)
	}
	least, err := Minimise(cfg, 600, runForged)
	if !errors.Is(err, ErrViolation) {
		t.Fatalf("the error has become %v", err)
	}
	script := least.Script()
	t.Logf("%d lines have become %d:\n%s%v", strings.Count(cfg.Script(), "\n"), strings.Count(script, "\n"), script, err)
	again, err := ParseScript(script)
	if err != nil {
		t.Fatal(err)
	}
	if err := runForged(again); !errors.Is(err, ErrViolation) {
		t.Errorf("the script does not fail: %v", err)
	}
	if _, err := Run(again); err != nil {
		t.Errorf("it fails without the forger, too: %v", err)
	}
	messages := 0
	for _, s := range least.Streams {
		messages += len(s.Messages)
	}
	if messages > 2 || len(least.Faults) > 3 {
		t.Errorf("%d messages and %d faults are left", messages, len(least.Faults))
	}
}

func TestMinimiserKeepsWhatPasses(t *testing.T) {
	cfg := plain(1000)
	calls := 0
	least, err := Minimise(cfg, 100, func(c Config) error {
		calls++
		_, err := Run(c)
		return err
	})
	if err != nil || calls != 1 || least.Script() != cfg.Script() {
		t.Errorf("after %d runs: %v\n%s", calls, err, least.Script())
	}
}

func TestMinimiserNamesThePacketsThatMatter(t *testing.T) {
	const enough = 3
	try := func(c Config) error {
		res, err := Run(c)
		if err == nil && res.Network.LostData >= enough {
			return violation("%d packets were lost", res.Network.LostData)
		}
		return nil
	}
	cfg := faulty(1 << 18)
	for i := range cfg.Network.Paths {
		f := Everywhere(Mark)
		f.Path, f.Chance = i, 0.5
		cfg.Faults = append(cfg.Faults, f)
	}
	least, err := Minimise(cfg, 500, try)
	if !errors.Is(err, ErrViolation) {
		t.Fatal(err)
	}
	if len(least.Faults) != enough {
		t.Errorf("%d faults are left, %d are enough:\n%s", len(least.Faults), enough, least.Script())
	}
	for _, f := range least.Faults {
		if f.Kind != Lose || f.Packet == 0 {
			t.Errorf("left is %+v", f)
		}
	}
}
