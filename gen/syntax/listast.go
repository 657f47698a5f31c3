// SPDX-License-Identifier: Apache-2.0

package syntax

// List is `tlv Parameters max 8192 { … }`.
type List struct {
	Pos    Pos
	Name   *Ident   `parser:"'tlv' @@"`
	Params []*Param `parser:"('(' @@ (',' @@)* ')')?"`
	Max    *Expr    `parser:"('max' @@)? '{'"`
	Rules  []*Rule  `parser:"@@* '}'"`
}

// Rule is one line of a List; exactly one kind is set.
type Rule struct {
	Pos     Pos
	EndPos  Pos
	Head    *Body    `parser:"  'head' @@ ';'?"`
	Key     []*Ident `parser:"| 'key' @@ (',' @@)* ';'"`
	Length  *Expr    `parser:"| 'length' @@ ';'"`
	Bare    *Bare    `parser:"| @@"`
	Element string   `parser:"| 'element' 'align' @Number ';'"`
	Align   *Align   `parser:"| @@"`
	Order   *Ident   `parser:"| 'order' @@ ';'"`
	Unknown *Unknown `parser:"| @@"`
	Case    *Case    `parser:"| @@"`
}

// Bare is `bare 0 => end;`.
type Bare struct {
	Key  *Range `parser:"'bare' @@ '=>'"`
	Name *Ident `parser:"@@ ';'"`
}

// Align is `align 4 fill 0;`.
type Align struct {
	Number string `parser:"'align' @Number"`
	Fill   string `parser:"('fill' @(Number | 'ignore'))? ';'"`
}

// Unknown is `unknown skip if c else reject;`.
type Unknown struct {
	Pos    Pos
	Policy string `parser:"'unknown' ( @'skip'"`
	If     *Expr  `parser:"( 'if' @@ 'else' 'reject'"`
	Code   *Ident `parser:"@@? )?"`
	Reject bool   `parser:"| @'reject'"`
	Name   *Ident `parser:"@@? ) ';'"`
}

// Case is `1 => capacity : { … } unique;`.
type Case struct {
	Pos     Pos
	Keys    []*CaseKey `parser:"@@ (',' @@)* ':'"`
	Type    *Type      `parser:"@@"`
	Clauses []*Clause  `parser:"@@*"`
	End     *End       `parser:"@@"`
}

// CaseKey is `1 => capacity` or `7, 0x83 => route`.
type CaseKey struct {
	Pos  Pos
	Keys []*KeyTuple `parser:"@@ (',' @@)* '=>'"`
	Name *Ident      `parser:"@@"`
}

// KeyTuple is one key: `1`, `2..5` or `(0x0102, 1, 0..3)`.
type KeyTuple struct {
	Pos    Pos
	EndPos Pos
	Parts  []*Range `parser:"  '(' @@ (',' @@)+ ')' | @@"`
}

// Example is an example or a reject block.
type Example struct {
	Pos    Pos
	Kind   string         `parser:"@('example' | 'reject')"`
	Name   string         `parser:"@String"`
	Struct *Ident         `parser:"@@ '{'"`
	Lines  []*ExampleLine `parser:"@@* '}'"`
}

// ExampleLine is one line of an Example.
type ExampleLine struct {
	Pos          Pos
	EndPos       Pos
	Hex          *string   `parser:"(  'hex' @String"`
	Param        *Ident    `parser:" | 'param' @@ "`
	Value        *Expr     `parser:"    '=' @@"`
	Consumed     string    `parser:" | 'consumed' @Number"`
	NonCanonical bool      `parser:" | @'noncanonical'"`
	Error        *Ident    `parser:" | 'error' @@"`
	At           *ItemPath `parser:"   ('at' @@)?"`
	Path         *ItemPath `parser:" | @@"`
	Want         *Expr     `parser:"   '=' @@ ) ';'"`
}

// ItemPath names an item of a decoded packet: plain.ack.blocks[0].base.
type ItemPath struct {
	Pos    Pos
	EndPos Pos
	Steps  []*PathStep `parser:"@@ ('.' @@)*"`
}

// PathStep is one part of an ItemPath.
type PathStep struct {
	Name  string   `parser:"@(Name | Keyword)"`
	Index []string `parser:"('[' @Number ']')*"`
}
