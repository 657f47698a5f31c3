// SPDX-License-Identifier: Apache-2.0

// Package gen compiles schemas of packet formats into an IR, the Protocol: every name resolved, every bit placed, every
// check ordered. Load and Compile are the way in; the backends in its subdirectories print the IR, and Decode, Encode and
// VerifyPacket run it.
package gen
