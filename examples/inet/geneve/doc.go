// SPDX-License-Identifier: Apache-2.0

// Package geneve is the codec of Geneve (RFC 8926), printed from schema/examples/geneve.mrs.
package geneve
