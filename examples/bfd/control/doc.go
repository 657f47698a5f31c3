// SPDX-License-Identifier: Apache-2.0

// Package control is the codec of bidirectional forwarding detection (RFC 5880), printed from schema/examples/bfd.mrs.
package control
