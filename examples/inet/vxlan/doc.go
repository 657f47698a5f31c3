// SPDX-License-Identifier: Apache-2.0

// Package vxlan is the codec of VXLAN (RFC 7348), printed from schema/examples/vxlan.mrs.
package vxlan
