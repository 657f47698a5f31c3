// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// dissection is what tshark, with the project's dissector, makes of one side's capture.
type dissection struct {
	Role     string            `json:"role"`
	File     string            `json:"file"`
	Packets  uint64            `json:"packets"`
	ByOpcode map[string]uint64 `json:"packets_by_opcode"`
	// Resends are sequenced packets from this side that the dissector recognises as sent before.
	Resends uint64 `json:"resends"`
	// Gaps are the acknowledgements that name missing packets.
	Gaps uint64 `json:"acks_with_gaps"`
	// Malformed, LuaErrors and Foreign count packets that the dissector found faults in, failed on, or did not take.
	Malformed uint64 `json:"malformed"`
	LuaErrors uint64 `json:"lua_errors"`
	Foreign   uint64 `json:"not_dissected"`
}

// columns are the fields that tshark prints, one packet on a line.
var columns = []string{
	"metaroce.base.opcode", "metaroce.analysis.resend", "metaroce.analysis.gap", "metaroce.error", "_ws.malformed",
	"_ws.lua.error", "udp.srcport",
}

// errNoTshark: the dissector cannot be run here.
var errNoTshark = errors.New("tshark is not installed; run: scripts/deps.sh tshark")

// dissect runs tshark over a capture. port is the receiver's UDP port.
func dissect(ctx context.Context, script, file string, r *sideReport) (*dissection, error) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		return nil, errNoTshark
	}
	port, err := servedPort(r)
	if err != nil {
		return nil, err
	}
	args := []string{"-n", "-r", file, "-X", "lua_script:" + script, "-d", fmt.Sprintf("udp.port==%d,metaroce", port), "-T", "fields"}
	for _, c := range columns {
		args = append(args, "-e", c)
	}
	cmd := exec.CommandContext(ctx, tshark, args...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("tshark %s: %w: %s", file, err, complaints.Bytes())
	}
	// tshark ends with 0 although a script is missing or does not load.
	for _, sign := range []string{"Lua:", "doesn't exist"} {
		if strings.Contains(complaints.String(), sign) {
			return nil, fmt.Errorf("tshark %s: %s", file, complaints.Bytes())
		}
	}
	d := &dissection{Role: r.Role, File: file, ByOpcode: map[string]uint64{}}
	own, err := ownPorts(r)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out.String()) {
		if err := d.take(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), own); err != nil {
			return nil, fmt.Errorf("tshark %s: %w", file, err)
		}
	}
	return d, nil
}

// take counts one packet.
func (d *dissection) take(fields []string, own map[string]bool) error {
	if len(fields) != len(columns) {
		return fmt.Errorf("%d columns instead of %d", len(fields), len(columns))
	}
	d.Packets++
	opcode, resend, gap, fault, malformed, lua, from := fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6]
	if opcode == "" {
		d.Foreign++
	} else {
		n, err := strconv.ParseUint(opcode, 0, 8)
		if err != nil {
			return fmt.Errorf("opcode %q: %w", opcode, err)
		}
		d.ByOpcode[wire.Opcode(n).String()]++
	}
	if resend != "" && own[from] {
		d.Resends++
	}
	if gap != "" {
		d.Gaps++
	}
	if fault != "" || malformed != "" {
		d.Malformed++
	}
	if lua != "" {
		d.LuaErrors++
	}
	return nil
}

// servedPort is the receiver's UDP port, as a side knows it.
func servedPort(r *sideReport) (uint16, error) {
	if len(r.Paths) == 0 {
		return 0, fmt.Errorf("%s reports no paths", r.Role)
	}
	text := r.Paths[0].Remote
	if r.Role == "receiver" {
		text = r.Paths[0].Local
	}
	a, err := netip.ParseAddrPort(text)
	return a.Port(), err
}

// ownPorts are the ports from which a side sends.
func ownPorts(r *sideReport) (map[string]bool, error) {
	own := map[string]bool{}
	for _, p := range r.Paths {
		a, err := netip.ParseAddrPort(p.Local)
		if err != nil {
			return nil, err
		}
		own[strconv.Itoa(int(a.Port()))] = true
	}
	return own, nil
}
