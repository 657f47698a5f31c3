// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"github.com/alecthomas/participle/v2/lexer"
)

// Pos is a place in the source.
type Pos = lexer.Position

// Decl is one declaration; exactly one member is set.
type Decl struct {
	Pos       Pos
	EndPos    Pos
	Edition   *Edition   `parser:"  @@"`
	Package   *Package   `parser:"| @@"`
	Import    *Import    `parser:"| @@"`
	ByteOrder *ByteOrder `parser:"| @@"`
	BitOrder  *BitOrder  `parser:"| @@"`
	Option    *Option    `parser:"| @@"`
	Versions  *Versions  `parser:"| @@"`
	Const     *Const     `parser:"| @@"`
	Error     *Error     `parser:"| @@"`
	Assert    *Assert    `parser:"| @@"`
	Enum      *Enum      `parser:"| @@"`
	Sum       *Sum       `parser:"| @@"`
	Struct    *Struct    `parser:"| @@"`
	List      *List      `parser:"| @@"`
	Example   *Example   `parser:"| @@"`
}

// Ident is a name at a place.
type Ident struct {
	Pos  Pos
	Text string `parser:"@(Name | TypeName | Keyword)"`
}

// Dotted is a dotted name.
type Dotted struct {
	Parts []*Ident `parser:"@@ ('.' @@)*"`
}

// Edition is `edition 1;`.
type Edition struct {
	Pos    Pos
	Number string `parser:"'edition' @Number ';'"`
}

// Package is `package metaroce.wire;`.
type Package struct {
	Pos  Pos
	Name *Dotted `parser:"'package' @@ ';'"`
}

// Import is `import "ip.mrs" as ip;`.
type Import struct {
	Pos  Pos
	Path string `parser:"'import' @String"`
	As   *Ident `parser:"('as' @@)? ';'"`
}

// ByteOrder is `byteorder big;`.
type ByteOrder struct {
	Pos   Pos
	Order *Ident `parser:"'byteorder' @@ ';'"`
}

// BitOrder is `bitorder msb;`.
type BitOrder struct {
	Pos   Pos
	Order *Ident `parser:"'bitorder' @@ ';'"`
}

// Option is `option lua { proto = "metaroce"; }`.
type Option struct {
	Pos      Pos
	Target   *Ident     `parser:"'option' @@ '{'"`
	Settings []*Setting `parser:"@@* '}'"`
}

// Setting is one assignment of an Option.
type Setting struct {
	Key   *Ident `parser:"@@ '='"`
	Value *Expr  `parser:"@@ ';'"`
}

// Versions is `versions 1..3 by Base.version;`.
type Versions struct {
	Pos   Pos
	Range *Range  `parser:"'versions' @@ 'by'"`
	By    *Dotted `parser:"@@ ';'"`
}

// Const is `const Port = 4797;`.
type Const struct {
	Pos   Pos
	Name  *Ident `parser:"'const' @@ '='"`
	Value *Expr  `parser:"@@ ';'"`
}

// Error is `error E_OPCODE = 64 "opcode is not assigned";`.
type Error struct {
	Pos    Pos
	Name   *Ident `parser:"'error' @@ '='"`
	Number *Expr  `parser:"@@"`
	Text   string `parser:"@String ';'"`
}

// Assert is `assert minsize(Packet) == 24;`.
type Assert struct {
	Pos  Pos
	Cond *Expr `parser:"'assert' @@ ';'"`
}

// Enum is `enum Opcode : u8 open { … }`.
type Enum struct {
	Pos     Pos
	Name    *Ident    `parser:"'enum' @@ ':'"`
	Width   *Ident    `parser:"@@"`
	Policy  *Ident    `parser:"@@"`
	Attrs   []*Attr   `parser:"@@*"`
	Members []*Member `parser:"'{' @@* '}'"`
}

// Member is `Write = 0x01;` or `reserved 0xe0..0xff, "Credit";`.
type Member struct {
	Pos      Pos
	Reserved []*ReservedItem `parser:"(  'reserved' @@ (',' @@)*"`
	Name     *Ident          `parser:" | @@"`
	Range    *Range          `parser:"   '=' @@ "`
	Since    []*Since        `parser:"   @@*"`
	Attrs    []*Attr         `parser:"   @@* ) ';'"`
}

// ReservedItem is a number, a range or a name that an enum never uses.
type ReservedItem struct {
	Name  string `parser:"  @String"`
	Range *Range `parser:"| @@"`
}

// Range is `a` or `a..b`.
type Range struct {
	Pos    Pos
	EndPos Pos
	First  *Term `parser:"@@"`
	Last   *Term `parser:"('..' @@)?"`
}

// Since is `since 2` or `until 3`.
type Since struct {
	Pos    Pos
	Word   string `parser:"@('since' | 'until')"`
	Number string `parser:"@Number"`
}

// Attr is `@fmt(hex)` or `@name(go = "Name")`.
type Attr struct {
	Pos    Pos
	EndPos Pos
	Name   *Ident      `parser:"'@' @@"`
	Named  []*NamedArg `parser:"( '(' ( (?= Name '=') @@ (',' @@)*"`
	Args   []*Expr     `parser:"       | @@ (',' @@)* ) ')' )?"`
}

// NamedArg is `go = "Name"`.
type NamedArg struct {
	Key   *Ident `parser:"@@ '='"`
	Value string `parser:"@String"`
}

// Sum is `crc Crc32c : u32 { … }` or `sum Inet : u16 { … }`.
type Sum struct {
	Pos   Pos
	Kind  string     `parser:"@('crc' | 'sum')"`
	Name  *Ident     `parser:"@@ ':'"`
	Width *Ident     `parser:"@@"`
	Keys  []*SumPart `parser:"'{' @@* '}'"`
}

// SumPart is `poly 0x1edc6f41;`.
type SumPart struct {
	Key    *Ident      `parser:"@@"`
	Values []*SumValue `parser:"@@+ ';'"`
}

// SumValue is a number or a word.
type SumValue struct {
	Pos    Pos
	Number string `parser:"  @Number"`
	Word   string `parser:"| @(Name | Keyword)"`
}

// Struct is a header or a packet.
type Struct struct {
	Pos    Pos
	Kind   string   `parser:"@('header' | 'packet')"`
	Name   *Ident   `parser:"@@"`
	Params []*Param `parser:"('(' @@ (',' @@)* ')')?"`
	Sized  *Expr    `parser:"('sized' @@)?"`
	Max    *Expr    `parser:"('max' @@)?"`
	Attrs  []*Attr  `parser:"@@*"`
	Body   *Body    `parser:"@@"`
}

// Param is `base : Base`.
type Param struct {
	Pos     Pos
	Name    *Ident     `parser:"@@ ':'"`
	Types   []*TypeRef `parser:"@@ ('|' @@)*"`
	Default *Expr      `parser:"('=' @@)?"`
}

// TypeRef names a type, perhaps of an import: `u8`, `Base` or `ip.Ipv4`.
type TypeRef struct {
	Pos   Pos
	Scope *Ident `parser:"( (?= Name '.') @@ '.' )?"`
	Text  string `parser:"@(Name | TypeName)"`
}

// Body is `{ items }`.
type Body struct {
	Pos    Pos
	EndPos Pos
	Items  []*Item `parser:"'{' @@* '}'"`
}

// Item is one line of a Body; exactly one member is set.
type Item struct {
	Pos    Pos
	EndPos Pos
	If     *If     `parser:"  @@"`
	Where  *Where  `parser:"| @@"`
	Let    *Let    `parser:"| @@"`
	Field  *Field  `parser:"| @@"`
	Nested *Nested `parser:"| @@"`
}

// If is `if a { … } else if b { … } else { … }`.
type If struct {
	Pos  Pos
	Cond *Expr     `parser:"'if' @@"`
	Then *Body     `parser:"@@"`
	More []*ElseIf `parser:"@@*"`
	Else *Body     `parser:"('else' @@)?"`
	End  *End      `parser:"@@"`
}

// ElseIf is one `else if` of an If.
type ElseIf struct {
	Pos  Pos
	Cond *Expr `parser:"'else' 'if' @@"`
	Then *Body `parser:"@@"`
}

// Where is `where a < b else E_NAME;`.
type Where struct {
	Pos  Pos
	Cond *Expr  `parser:"'where' @@"`
	Else *Ident `parser:"('else' @@)?"`
	End  *End   `parser:"@@"`
}

// Let is `let x = a + b;`.
type Let struct {
	Pos   Pos
	Name  *Ident `parser:"'let' @@ '='"`
	Value *Expr  `parser:"@@"`
	End   *End   `parser:"@@"`
}

// Field is `a, b : u8 in 1..5;`.
type Field struct {
	Names   []*Ident  `parser:"@@ (',' @@)* ':'"`
	Type    *Type     `parser:"@@"`
	Clauses []*Clause `parser:"@@*"`
	End     *End      `parser:"@@"`
}

// Nested is `Message;`: a field that is named after its type.
type Nested struct {
	Type    *Named    `parser:"@@"`
	Clauses []*Clause `parser:"@@*"`
	End     *End      `parser:"@@"`
}

// Named is a declared type, with arguments and an array bound.
type Named struct {
	Pos    Pos
	EndPos Pos
	Scope  *Ident  `parser:"( (?= Name '.') @@ '.' )?"`
	Name   string  `parser:"@TypeName"`
	Args   []*Expr `parser:"( '(' ( @@ (',' @@)* )? ')' )?"`
	Array  *Array  `parser:"@@?"`
}

// Array is `[n]` or `[..]`.
type Array struct {
	Pos    Pos
	EndPos Pos
	Greedy bool  `parser:"'[' ( @'..'"`
	Count  *Expr `parser:"     | @@ ) ']'"`
}

// Type is the type of a field, an arm or a case; exactly one of the kinds is set.
type Type struct {
	Pos     Pos
	EndPos  Pos
	Body    *BodyType `parser:"  @@"`
	Rsvd    *Rsvd     `parser:"| @@"`
	Pad     *Pad      `parser:"| @@"`
	Bits    *Bits     `parser:"| @@"`
	Span    *SpanType `parser:"| @@"`
	Payload *Payload  `parser:"| @@"`
	Nothing bool      `parser:"| @'nothing'"`
	Switch  *Switch   `parser:"| @@"`
	Named   *Named    `parser:"| @@"`
	Scalar  *Scalar   `parser:"| @@"`
}

// BodyType is an inline body, or an array of one.
type BodyType struct {
	Body  *Body  `parser:"@@"`
	Array *Array `parser:"@@?"`
}

// Rsvd is `rsvd 6 zero`.
type Rsvd struct {
	Bits   string `parser:"'rsvd' @Number"`
	Policy *Ident `parser:"@@"`
}

// Pad is `pad[4] zero`.
type Pad struct {
	Array  *Array `parser:"'pad' ( @@"`
	Align  string `parser:"| 'align' @Number )"`
	Policy *Ident `parser:"@@"`
}

// Bits is `bits<256> bit i means base + i`.
type Bits struct {
	Count string `parser:"'bits' '<' @Number '>'"`
	Index *Ident `parser:"( 'bit' @@"`
	Means *Expr  `parser:"  'means' @@ )?"`
}

// SpanType is `bytes[16]` or `string[..]`.
type SpanType struct {
	Kind      string `parser:"@('bytes' | 'string')"`
	Array     *Array `parser:"@@"`
	NulPadded bool   `parser:"@'nul_padded'?"`
}

// Payload is `payload by f, g`.
type Payload struct {
	Word string    `parser:"@'payload'"`
	By   []*Dotted `parser:"('by' @@ (',' @@)*)?"`
}

// Switch is `switch e { arms }`.
type Switch struct {
	Pos      Pos
	EndPos   Pos
	Selector *Expr  `parser:"'switch' @@"`
	Arms     []*Arm `parser:"'{' @@* '}'"`
}

// Arm is `A, B => type;`.
type Arm struct {
	Pos     Pos
	EndPos  Pos
	Labels  []*Range  `parser:"@@ (',' @@)* '=>'"`
	Reject  *Ident    `parser:"( 'reject' @@"`
	Type    *Type     `parser:"| @@ )"`
	Clauses []*Clause `parser:"@@*"`
	End     *End      `parser:"@@"`
}

// Scalar is `u12`, `bit` or `i16 little`.
type Scalar struct {
	Pos    Pos
	EndPos Pos
	Name   string   `parser:"(?! 'rsvd' | 'pad' | 'bits' | 'bytes' | 'string' | 'payload' | 'nothing' | 'switch' | 'reject') @Name"`
	Order  string   `parser:"@('big' | 'little')?"`
	As     *TypeRef `parser:"('as' @@)?"`
	Array  *Array   `parser:"@@?"`
}

// Clause is what may follow a type; exactly one kind is set.
type Clause struct {
	Pos     Pos
	EndPos  Pos
	Word    string `parser:"  @('serial' | 'opaque' | 'unique' | 'required')"`
	In      *Set   `parser:"| 'in' @@"`
	Equals  *Expr  `parser:"| '=' @@"`
	Default *Expr  `parser:"| 'default' @@"`
	Sized   *Expr  `parser:"| 'sized' @@"`
	Over    *Cover `parser:"| 'over' @@"`
	If      *Expr  `parser:"| 'if' @@ (?! '{')"`
	Since   *Since `parser:"| @@"`
	Attr    *Attr  `parser:"| @@"`
}

// Set is `1..5` or `{1, 3..4}`.
type Set struct {
	Pos    Pos
	EndPos Pos
	Ranges []*Range `parser:"  '{' @@ (',' @@)* '}' | @@"`
}

// Cover is what a checksum covers.
type Cover struct {
	Pos       Pos
	EndPos    Pos
	Parts     []*CoverPart `parser:"@@ (',' @@)*"`
	ZeroMeans *Ident       `parser:"('zero_means' @@)?"`
}

// CoverPart is one part of a Cover.
type CoverPart struct {
	Fill   string    `parser:"(  @('ones' | 'zeros')"`
	Count  *Expr     `parser:"    '[' @@ ']'"`
	Word   string    `parser:" | @('before' | 'self')"`
	First  *Dotted   `parser:" | @@"`
	Last   *Dotted   `parser:"   ('..' @@)? )"`
	Except []*Dotted `parser:"( 'except' '(' @@ (',' @@)* ')'"`
	As     string    `parser:"  'as' @('ones' | 'zeros') )?"`
}
