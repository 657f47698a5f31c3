// SPDX-License-Identifier: Apache-2.0

// Command mrgen compiles protocol schemas.
//
//	mrgen gen                     write the outputs that schema/mrgen.toml lists; --json, --sarif
//	mrgen gen --out DIR FILE      write the outputs of another schema below DIR
//	mrgen check                   tell whether the outputs are what the schema gives
//	mrgen check FILE…             report the faults of schemas, and what the backends of their project refuse; --json, --sarif
//	mrgen lint [FILE…]            report what a schema may do but should not; --json, --sarif, --allow CODE
//	mrgen fmt [FILE…]             print schemas in their canonical form; -w writes, -d shows, --check names files
//	mrgen explain [CODE…]         say what a code means, with a schema that raises it
//	mrgen layout [FILE]           show where items lie and how large things are; --json
//	mrgen docs                    print a reference
//	mrgen docs --check PAGE…      name the parts of pages that are not what the schema says; --write renews them
//	mrgen decode HEX|FILE|-       show what the bytes of a packet, or the datagrams of a pcap or pcapng, mean; --json
//	mrgen diff --against REV|FILE say what a change changes, with a packet that proves it; --json
//	mrgen trace --results FILE    tie requirements to code and tests; --json
//
// It looks for schema/mrgen.toml in the current directory and in those above it. Exit status: 0 = all is well; 1 = the
// schema, the outputs, the packet, the change or the requirements are not; 2 = the command could not be carried out. A
// schema with faults, or with parts for which a backend has no form, writes nothing.
package main
