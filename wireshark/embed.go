// SPDX-License-Identifier: Apache-2.0

// Package wireshark holds the hand-written part of the Wireshark dissector: the analysis that spans packets.
package wireshark

import _ "embed"

// Analysis is embedded behind the generated decoders; see analysis.lua for what it may use.
//
//go:embed analysis.lua
var Analysis string
