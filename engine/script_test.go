// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A script is a file of testdata/scripts. It begins with prose: lines of "# ". Blocks follow, with an empty line after each:
// commands, one a line; a line "----"; and what then happened, as it is printed. Between blocks there may be more prose.
//
// Commands of the stage:
//
//	ends chunk=64 seqbits=10 ...      makes both ends with these settings; first= is the opener's first PSN and TSN
//	open paths=2                      A opens over ports 10000, 10001
//	connect paths=2                   the same, and nothing is printed until it has become quiet
//	run 500us | run                   plays for a time, or until nothing happens for a second
//	quiet 500us | quiet               the same, and prints nothing
//	until B Received                  plays until an end has had an event of the kind
//	numbers absolute                  prints PSNs and TSNs as they are, not as distances from the first one
//
// Commands of the wire, A and B being the ends. Packets are picked by sender, opcode, number (2, 2..4 or all, counted from
// the command on) and, optionally, words of their printed line:
//
//	drop A Write 2 p1                 loses the second Write that A sends on path 1
//	double A Write 1                  delivers two copies
//	mark A Write all                  sets CE
//	hold late A Write 1               keeps the packet until "release late" or "release late copy", which keeps it too
//	cut A 10001 | cut B all           loses all that A sends over a port, or all that B sends; mend ends every cut
//	cut A p1 longer=100               loses what is longer than 100 bytes on path 1
//	inject B Ack ack.blocks[0].base=first+7 ...
//	                                  hands B a packet from A written by hand: fields as in the schema; first+n counts from
//	                                  the first number of the packet's sender, peer+n from that of its addressee;
//	                                  the word "marked" sets CE
//
// Commands of an end. Bytes of operation n all have the value n:
//
//	B region R size=256 rights=write+read+atomic
//	B deregister R
//	A write|send|read|add|swap id=1 stream=0 size=200 to=R at=0 imm=5 match=6 operand=1 compare=2 fence deadline=3ms
//	B receive stream=0 id=1 size=300
//	A end stream=0 | A cancel stream=0 id=1 | A close
//	B memory R | A memory 3           prints a region, the buffer of a receive or of a read: runs of equal bytes
//	B word R 8                        prints 8 bytes as a number
//	A path 1 | A drops                prints counters

var update = flag.Bool("update", false, "rewrite what scripts print")

// block is some commands of a script and what they should print.
type block struct {
	before   []string // prose and empty lines
	commands []string
	want     string
	line     int
}

const separator = "----"

// parseScript splits a script into blocks. Prose behind the last one becomes a block without commands.
func parseScript(text string) (blocks []block) {
	var b block
	var want []string
	inWant := false
	flush := func() {
		b.want = strings.Join(want, "\n")
		blocks = append(blocks, b)
		b, want, inWant = block{}, nil, false
	}
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		switch {
		case inWant && line == "":
			flush()
			b.before = []string{""}
		case inWant:
			want = append(want, line)
		case line == separator:
			inWant = true
		case line == "" || strings.HasPrefix(line, "#"):
			b.before = append(b.before, line)
		default:
			if b.line == 0 {
				b.line = i + 1
			}
			b.commands = append(b.commands, line)
		}
	}
	flush()
	return blocks
}

// printScript is the inverse of parseScript.
func printScript(blocks []block) string {
	var lines []string
	for _, b := range blocks {
		lines = append(lines, b.before...)
		lines = append(lines, b.commands...)
		if len(b.commands) > 0 {
			lines = append(lines, separator)
		}
		if b.want != "" {
			lines = append(lines, b.want)
		}
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// Packet by packet: each script prints every packet and event, and a person has read what it should print.
//
//mr:test MR-ACK-001 MR-ACK-002 MR-ACK-004 MR-ACK-005 MR-ACK-006 MR-ACK-007 MR-ACK-008 MR-ACK-009
//mr:test MR-ACK-010 MR-ACK-012 MR-ACK-013 MR-CC-002 MR-CC-003 MR-CC-010 MR-CONN-001 MR-CONN-002
//mr:test MR-CONN-005 MR-CONN-007 MR-CONN-008 MR-CONN-009 MR-CONN-011 MR-CONN-013 MR-CONN-014 MR-CONN-016
//mr:test MR-CONN-018 MR-CONN-019 MR-CONN-021 MR-CONN-022 MR-CONN-023 MR-CONN-024 MR-CONN-025 MR-ERR-001
//mr:test MR-ERR-002 MR-ERR-003 MR-ERR-004 MR-ERR-005 MR-FAIL-001 MR-FAIL-003 MR-FAIL-004 MR-FAIL-005
//mr:test MR-FAIL-006 MR-FAIL-007 MR-LOSS-001 MR-LOSS-002 MR-LOSS-003 MR-LOSS-005 MR-LOSS-006 MR-LOSS-007
//mr:test MR-LOSS-009 MR-LOSS-010 MR-LOSS-012 MR-LOSS-013 MR-PATH-002 MR-PATH-005 MR-PATH-006 MR-PATH-007
//mr:test MR-PATH-008 MR-PATH-009 MR-PATH-011 MR-PATH-012 MR-PATH-013 MR-PATH-014 MR-STREAM-002 MR-STREAM-003
//mr:test MR-STREAM-005 MR-STREAM-007 MR-STREAM-008 MR-STREAM-009 MR-STREAM-010 MR-STREAM-011 MR-STREAM-014 MR-STREAM-016
//mr:test MR-STREAM-018 MR-STREAM-019 MR-STREAM-020 MR-STREAM-021 MR-STREAM-022 MR-STREAM-023 MR-STREAM-024 MR-STREAM-025
//mr:test MR-STREAM-028 MR-STREAM-029 MR-STREAM-030 MR-WIRE-006 MR-WIRE-007 MR-WIRE-015
//mr:test MR-LOSS-011 MR-LOSS-004 MR-FAIL-002 MR-FAIL-009 MR-FAIL-010 MR-FAIL-011 MR-PATH-015
//mr:prop P8 P9 P18 P22 P36 P42
func TestScriptsPrintWhatWasRead(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			playFile(t, file, string(text))
		})
	}
}

func playFile(t *testing.T, file, text string) {
	t.Helper()
	if !strings.HasPrefix(text, "# ") {
		t.Errorf("%s does not begin with prose", file)
	}
	blocks := parseScript(text)
	s := newStage()
	for i := range blocks {
		b := &blocks[i]
		if len(b.commands) == 0 {
			continue
		}
		got, err := s.play(b.commands)
		if err != nil {
			t.Fatalf("%s:%d: %v; so far:\n%s", file, b.line, err, got)
		}
		if endSeed() != 0 {
			if diff := cmp.Diff(eventsOf(b.want), eventsOf(got)); diff != "" {
				t.Errorf("%s:%d: events (-want +got):\n%s", file, b.line, diff)
			}
		} else if *update {
			b.want = got
		} else if diff := cmp.Diff(strings.Split(b.want, "\n"), strings.Split(got, "\n")); diff != "" {
			t.Fatalf("%s:%d: (-want +got; -update rewrites)\n%s", file, b.line, diff)
		}
	}
	if *update && endSeed() == 0 {
		if err := os.WriteFile(file, []byte(printScript(blocks)), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(text, printScript(blocks)); diff != "" {
		t.Errorf("%s is not written as -update writes it:\n%s", file, diff)
	}
}

func TestScriptsRefuseWhatTheyDoNotKnow(t *testing.T) {
	for _, command := range []string{
		"dance", "ends colour=1", "A write size=x", "C close", "drop A Wrote 1", "drop A Write 0", "inject B Ack ack.nothing=1",
		"until A Done", "release nothing", "A memory nowhere", "A fly", "A word R", "run fast", "hold", "cut A x",
	} {
		s := newStage()
		if got, err := s.play([]string{"connect paths=2", command}); err == nil {
			t.Errorf("%q is taken and prints %q", command, got)
		}
	}
}

// play runs commands and returns what they print.
func (s *stage) play(commands []string) (string, error) {
	s.out.Reset()
	for _, line := range commands {
		if err := s.command(strings.Fields(line)); err != nil {
			return s.out.String(), fmt.Errorf("%s: %w", line, err)
		}
	}
	return strings.TrimRight(s.out.String(), "\n"), nil
}
