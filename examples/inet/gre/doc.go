// SPDX-License-Identifier: Apache-2.0

// Package gre is the codec of GRE (RFC 2784, RFC 2890), printed from schema/examples/gre.mrs.
package gre
