// SPDX-License-Identifier: Apache-2.0

// Package examples stands above the codecs and layers that mrgen prints for the schemas in schema/examples, in a folder for
// each dotted package name. `mrgen gen` and `mrgen check` in such a folder write and compare them. The package has no code of
// its own: its tests compare the printed code with the interpreter and with gopacket.
package examples
