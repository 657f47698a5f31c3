// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamesMapToEveryTarget(t *testing.T) {
	for name, want := range map[string]Name{
		"psn":         {"psn", "Psn", "psn", "psn"},
		"ack_request": {"ack_request", "AckRequest", "ack_request", "ack_request"},
		"len":         {"len", "Len_", "len", "len"},
		"register":    {"register", "Register", "register_", "register"},
		"end":         {"end", "End", "end", "end_"},
		"not":         {"not", "Not", "not_", "not_"},
	} {
		if diff := cmp.Diff(want, itemName(name)); diff != "" {
			t.Errorf("item %s: %s", name, diff)
		}
	}
	for name, want := range map[string]Name{
		"PathAck":   {"PathAck", "PathAck", "path_ack", "path_ack"},
		"Crc32c":    {"Crc32c", "Crc32c", "crc32c", "crc32c"},
		"TLVList":   {"TLVList", "TLVList", "tlv_list", "tlv_list"},
		"End":       {"End", "End", "end", "end_"},
		"ErrorCode": {"ErrorCode", "ErrorCode_", "error_code", "error_code"},
		"SCREAM_UP": {"SCREAM_UP", "SCREAMUP", "scream_up", "scream_up"},
	} {
		if diff := cmp.Diff(want, typeName(name)); diff != "" {
			t.Errorf("type %s: %s", name, diff)
		}
	}
}
