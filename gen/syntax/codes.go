// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"cmp"
	"maps"
	"slices"
)

// CodeInfo documents one diagnostic code. Codes are stable: a number is never given to another fault.
type CodeInfo struct {
	Code string
	Text string // what is wrong
	Help string // what to do about it, when a diagnostic knows nothing better
}

// Codes lists all diagnostic codes by number.
func Codes() []CodeInfo {
	return slices.SortedFunc(maps.Values(codeTable()), func(a, b CodeInfo) int { return cmp.Compare(a.Code, b.Code) })
}

// Help returns the general advice for a code; empty when the code does not exist.
func Help(code string) string { return codeTable()[code].Help }

func codeTable() map[string]CodeInfo {
	out := make(map[string]CodeInfo, 80)
	for _, part := range [][]CodeInfo{lexicalCodes, nameCodes, layoutCodes, typeCodes, exprCodes, choiceCodes, sumCodes, backendCodes} {
		for _, k := range part {
			out[k.Code] = k
		}
	}
	return out
}

var lexicalCodes = []CodeInfo{
	{"E0001", "a character that belongs to no schema", "remove it"},
	{"E0002", "a text or a comment that is not closed, or an unknown escape", "close it"},
	{"E0003", "a file that is too large or not UTF-8", "save it as UTF-8 text of at most 1 MiB"},
	{"E0004", "a malformed number", "write 42, 0x2a or 0b10_1010: no leading zero and no decimals"},
	{"E0005", "a bracket that closes nothing or is never closed", "balance the brackets"},
	{"E0006", "too deep nesting or too long an expression", "split it into several declarations"},
	{"E0007", "a word that cannot stand here", "compare the line with the form of its declaration"},
	{"E0008", "a missing or misplaced first line", "a file begins with `edition 1; package name; byteorder big; bitorder msb;` in this order"},
	{"E0009", "an unknown edition", "write `edition 1;`"},
	{"E0010", "a part of the language that this compiler refuses because it cannot lay it out yet", "leave it out; LANGUAGE.md lists what is not supported yet"},
	{"E0011", "a clause in the wrong place", "the order is serial, opaque, in, = or default, sized, over, if, unique or required, since, until, @attribute"},
	{"E0012", "an unknown option, attribute or policy", "LANGUAGE.md lists the options, attributes and policies"},
}

var nameCodes = []CodeInfo{
	{"E0101", "an undeclared name", "declare it first"},
	{"E0102", "a name that is declared twice", "rename one of the two"},
	{"E0103", "a word of the language as a name", "choose another name"},
	{"E0104", "a name in the wrong case", "items are lower_case, types, constants, errors and members begin with a capital"},
	{"E0105", "two names that become one in a target language", "rename one of the two"},
	{"E0106", "`_` for something that needs a name", "give it a name"},
	{"E0107", "an import that cannot be read", "name a schema below this file's directory, for example `import \"ip.mrs\" as ip;`"},
	{"E0108", "schemas that import each other in a circle", "move what both need into a third schema"},
	{"E0109", "a type that contains itself", "break the cycle: nesting must end"},
	{"E0110", "a version that is not known where a field depends on it", "decode the header with the version first, or take it as a parameter"},
}

var layoutCodes = []CodeInfo{
	{"E0201", "an unknown or impossible width", "write bit, u1 to u64 or i1 to i64"},
	{"E0207", "fields that end within a byte", "add reserved bits"},
	{"E0209", "a byte order where there is none", "little-endian numbers are whole bytes that begin at a byte; write `big` behind the others"},
	{"E0210", "a declared size that is not the size of the content", "correct the size or the fields"},
	{"E0211", "a packet or list without a largest size", "add `max` and a number of bytes"},
	{"E0212", "a body without items", "write `nothing` for an empty arm or element"},
	{"E0213", "a layout that is too large", "make it smaller, or bound it with `in`"},
}

var typeCodes = []CodeInfo{
	{"E0301", "something of the wrong kind", "use the kind that the place asks for"},
	{"E0302", "a truth value in the place of a number, or the reverse", "compare numbers with each other and join truth values with && and ||"},
	{"E0303", "an enum without policy or members", "write `enum Name : u8 open { Member = 1; }` or `closed`"},
	{"E0304", "a number or name of an enum that is used twice or reserved", "choose another one"},
	{"E0305", "a comparison of members of two enums", "compare with a member of the field's own enum"},
	{"E0306", "a member that names a range in the place of one number", "use it right of `in` or as an arm"},
	{"E0307", "a constant that does not fit", "choose a value in the range, or widen the field"},
	{"E0308", "a range that ends before it begins", "swap its ends"},
	{"E0309", "wrong arguments", "LANGUAGE.md lists what each function takes"},
	{"E0310", "a floating-point number", "carry it as an integer with @unit(\"…\")"},
	{"E0311", "an error code that is taken or built in", "choose an unused number from 64 to 32767"},
	{"E0312", "a clause that does not fit the type", "remove it"},
}

var exprCodes = []CodeInfo{
	{"E0401", "an expression whose value may leave 64 bits", "narrow the operands with `in`"},
	{"E0402", "a division by what may be zero", "exclude zero from the divisor with `in 1..…`"},
	{"E0403", "a size or count that may be negative", "raise the lower bound of the operands with `in`"},
	{"E0404", "a shift count, index or operand of a bit operator out of range", "bound it with `in`"},
	{"E0405", "an item that is used before it is decoded", "move the rule behind the item"},
	{"E0407", "the use of an item that may be absent", "use it only where its condition holds"},
	{"E0408", "a field of a parameter of several types", "only checksums can use such a parameter"},
	{"E0409", "an assertion that does not hold", "correct the layout or the assertion"},
	{"E0410", "an item in the place of a constant", "use numbers, constants, minsize(), maxsize() and offset()"},
	{"E0411", "a condition that is always the same", "remove it"},
	{"E0412", "a count or size that the encoder cannot solve", "make it a·f+b of one field, or derive the fields with `=`"},
	{"E0413", "a derived field that disagrees with the count or size it stands for", "derive it with count() or size() of that item"},
}

var choiceCodes = []CodeInfo{
	{"E0501", "a switch that leaves values out", "add the arm `_ => nothing;` or `_ => reject E_SWITCH;`"},
	{"E0502", "two arms that claim the same value", "remove the value from one of them"},
	{"E0503", "a switch over something else than one item", "switch over one scalar item"},
	{"E0504", "`_` next to other labels", "give `_` an arm of its own"},
	{"E0507", "array elements that may be empty or no whole bytes", "give the element at least one byte"},
	{"E0511", "two items that both take what is left of their container", "give one of them a size"},
	{"E0512", "two payloads on one path", "make one of them bytes"},
	{"E0513", "something of unknown size behind an item that takes the rest", "make its size constant or a matter of what stands before the item, or move it"},
	{"E0521", "a bare element whose key is not the first byte of the head", "put the key first and give it 8 bits"},
	{"E0522", "a key that two elements claim", "choose another key"},
	{"E0523", "a key that is an element and a bare one", "choose another key"},
	{"E0524", "a missing or repeated rule of a TLV list", "write `head { … }`, `key`, `length` once each, in this order"},
	{"E0525", "a head, key, length or alignment that cannot be one", "head: fixed size; key: some of its numbers; length: a*item + b of another one; lists fill up with bare elements"},
}

var sumCodes = []CodeInfo{
	{"E0601", "a checksum whose check value is wrong", "compare poly, init, reflect and xorout with the catalogue"},
	{"E0602", "an unknown, missing or malformed key of a checksum", "a crc has width, poly, init, reflect, xorout, check and order; a sum has algorithm, width and check"},
	{"E0603", "a checksum that does not say what it covers, or covers what it cannot", "add `over before`, `over self` or a range of whole bytes `first..last`"},
	{"E0604", "an exception that names nothing in the part it stands behind", "name an item at a fixed place of the part"},
	{"E0605", "a part of odd size before another part of a ones' complement sum", "put it last"},
	{"E0606", "checksums that cover each other", "leave one of them out with `except`"},
	{"E0701", "an example that does not hold", "correct the bytes, the values or the layout"},
	{"E0702", "a malformed example", "write `hex \"00 01\";`, then `item = value;` lines or `error E_NAME at item;`"},
	{"E0703", "a path in an example that leads nowhere", "paths are as in vectors: plain.ack.blocks[0].base, with the arm's name for a switch"},
}

var backendCodes = []CodeInfo{
	{"E0801", "a construct that the Go backend has no form for", "write it in another way, or take the backends `go` and `gotests` out of the outputs"},
	{"E0802", "a construct that the C backend has no form for", "write it in another way, or take the backend `c` out of the outputs"},
	{"E0803", "a construct that the Lua backend has no form for", "write it in another way, or take the backend `lua` out of the outputs"},
	{"E0804", "a construct that the backend of gopacket layers has no form for", "write it in another way, or take the backend `layers` out of the outputs"},
	{"E0805", "a packet for which no valid bytes are found", "loosen the rules that contradict each other, or take the backend `vectors` out of the outputs"},
}
