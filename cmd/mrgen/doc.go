// SPDX-License-Identifier: Apache-2.0

// Command mrgen compiles protocol schemas.
//
//	mrgen gen                   write the outputs that schema/mrgen.toml lists
//	mrgen gen --out DIR FILE    write the outputs of another schema to DIR/go, DIR/c, DIR/lua and DIR/vectors
//	mrgen check                 tell whether the outputs are what the schema gives
//	mrgen check FILE…           report the faults of schemas
//	mrgen decode HEX            show what the bytes of a packet mean; - reads the digits from standard input
//
// It looks for schema/mrgen.toml in the current directory and in those above it. Exit status: 0 = all is well; 1 = the
// schema, the outputs or the packet are not; 2 = the command could not be carried out. A schema with faults writes nothing.
package main
