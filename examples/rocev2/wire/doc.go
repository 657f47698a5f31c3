// SPDX-License-Identifier: Apache-2.0

// Package wire is the codec of RoCEv2 with its invariant CRC, printed from schema/examples/rocev2.mrs.
package wire
