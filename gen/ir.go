// SPDX-License-Identifier: Apache-2.0

package gen

// Protocol is one compiled schema: every name resolved, every bit placed, every check ordered.
// Backends and the interpreter read it and decide nothing.
type Protocol struct {
	Edition  int
	Package  string   // dotted, for example "metaroce.wire"
	Doc      []string // comment above the package line
	Source   string   // base name of the schema file
	License  string   // `option license "..."`; empty when the schema names none
	WireHash string   // SHA-256 of all that decides bytes; names included, docs and positions excluded
	TextHash string   // SHA-256 of the source text
	Targets  Targets
	Consts   []*Const
	Codes    []*Code // run-time errors: built-in first, then the schema's own, by number
	Enums    []*Enum
	Sums     []*Sum
	Structs  []*Struct // declaration order; a synthetic struct stands before its owner
	Lists    []*List
	Examples []*Example
	spots    spots
}

// Targets holds the schema's `option go|c|lua` blocks.
type Targets struct {
	GoPackage string // last part of Package unless the option says otherwise
	CPrefix   string // "mr"
	LuaProto  string // "metaroce": filter prefix
	LuaName   string // "MetaRoCE": protocol column
	UDPPort   int    // dissector binding; 0 = none
	MorePorts []int  // further UDP ports of the dissector
}

// Name is one identifier in every language; the mapping is decided once, here.
type Name struct {
	Schema string // as written: snake_case for items, CamelCase for types and members
	Go     string // CamelCase
	C      string // snake_case without the prefix
	Filter string // snake_case, last part of a display filter
}

// Const is a named integer.
type Const struct {
	Name  Name
	Doc   []string
	Value uint64
}

// Code is a run-time error code, shared by all backends.
type Code struct {
	Number int
	Name   string // "E_SHORT"
	Text   string
}

// Enum names numbers of one scalar width.
type Enum struct {
	Name     Name
	Doc      []string
	Bits     int
	Held     int  // bits of the widest field that holds it; at least Bits
	Closed   bool // a number that no member names is E_ENUM
	Members  []*Member
	Reserved []Range
}

// Member is one name of an Enum; First == Last unless it names a range.
type Member struct {
	Name         Name
	Doc          []string
	First, Last  uint64
	Since, Until uint64 // versions: of the first that knows it, of the first that no longer does; 0 = none
}

// Range is an inclusive interval of unsigned numbers.
type Range struct{ First, Last uint64 }

// SumKind tells the families of checksums apart.
type SumKind int

// The kinds of sums.
const (
	SumCRC      SumKind = iota
	SumOnes             // Internet checksum (RFC 1071), 16 bits: an odd last byte is followed by a zero; Poly to ReflectOut are unset, as for all below
	SumAdd              // the bytes added up modulo 256
	SumXor              // the exclusive or of the bytes
	SumFletcher         // Fletcher-16: the bytes added up modulo 255, and above them the sums so far added up modulo 255
)

// Sum is a checksum algorithm.
type Sum struct {
	Name                  Name
	Doc                   []string
	Kind                  SumKind
	Width                 int // bits
	Poly, Init, XorOut    uint64
	ReflectIn, ReflectOut bool
	Check                 uint64 // over "123456789"; verified at compile time
	Little                bool   // byte order on the wire
}

// Struct is a header, a packet, or the body of a switch arm or TLV case (then synthetic).
// Outer items that a synthetic body reads have become its Params, so no backend knows nested scopes.
type Struct struct {
	Name      Name
	Doc       []string
	Packet    bool    // root of vectors, Decode, dissector; false for a packet of another schema
	Import    string  // package of the schema that declares it; "" = this one
	Owner     *Struct // the struct whose arm or case this is; nil when declared by name
	List      *List   // the list whose head or case this is; nil otherwise
	Params    []*Param
	Items     []*Item  // all items in wire order, those of if-blocks included
	Steps     []Step   // the decode program
	Min, Max  int      // bytes; Max < 0 = bounded only by its container
	Greedy    bool     // takes the rest of its container on some decode path, and must fill it exactly (E_TRAILING)
	FixedSize bool     // Min == Max, one Run, no params: usable as array-pointer view and inside other runs
	Sized     *Expr    // `sized E`: the header's own bytes, counted from its start; it must fill them exactly (E_TRAILING); nil = none
	Lints     []*Check // `where … else lint`: decoders accept; Validate and the dissector report. Each in the order of declaration
}

// Param is a value the caller of decode provides: a decoded struct or a scalar.
type Param struct {
	Name    Name
	Struct  *Struct // nil = scalar, or one of Any
	Bits    int
	Signed  bool      // of a scalar: one of the body around an arm; never declared
	Any     []*Struct // `A | B`: the types that it may have; nil = one type. Its fields cannot be named
	Default *uint64   // of a scalar: what a caller means who gives none
	Cover   bool      // read by checksums only: an argument of verify and not of decode. Its bytes are those before its payload
}

// ItemKind tells which part of an Item is set.
type ItemKind int

// The kinds of items.
const (
	KindScalar   ItemKind = iota // Scalar: an integer or bit
	KindReserved                 // Scalar with Reserved != NotReserved
	KindBits                     // Vector: bits<N>
	KindStruct                   // Struct, Args
	KindArray                    // Array
	KindSpan                     // Span: bytes, string, payload, pad
	KindList                     // List: TLVs up to the container's end
	KindSwitch                   // Switch
)

// Item is one field of a struct, in wire order. Name.Schema is "_" for unnamed reserved bits.
type Item struct {
	Name   Name
	Doc    []string
	Kind   ItemKind
	Owner  *Struct
	Scalar *Scalar
	Vector *Vector
	Struct *Struct
	Args   []*Expr // one per Struct.Params or List.Params; an OpRef for headers, any number for scalars
	Array  *Array
	Span   *Span
	List   *List
	Switch *Switch
	Sized  *Expr  // `sized E` behind the type: the item's bytes (a Window step); nil = none
	When   *Expr  // nil = always present; else all enclosing conditions joined with &&
	Format string // @fmt(...): hex ipv4 ipv6 eui48 eui64; "" = decimal (bytes: hex)
	Unit   string // @unit("...")
}

// Reserve tells how reserved bits are treated.
type Reserve int

// The kinds of reserved bits: sent as zeros (ones); checked on arrival unless ignored.
const (
	NotReserved Reserve = iota
	ReservedZero
	ReservedOnes
	ReservedIgnore
)

// Scalar is an integer of 1 to 64 bits, MSB first.
type Scalar struct {
	Bits     int
	Signed   bool  // two's complement; Fixed and Default then hold the raw bits, In holds both ends sign-extended to 64 bits
	Little   bool  // least significant byte first; whole bytes at a byte boundary
	Flag     bool  // declared `bit`: usable as bool
	Enum     *Enum // nil = plain number
	Serial   bool  // RFC 1982 comparison
	Reserved Reserve
	In       []Range  // nil = any value
	Fixed    *uint64  // `= constant`: written, checked with E_FIXED
	Derived  *Expr    // `= expr`: encoder computes, decoder checks with E_DERIVED
	Solve    *Solve   // encoder fills it from an array's count or a span's size; nil unless so
	Others   []*Solve // the same for other bodies that hold it, which count by it as well
	Default  uint64   // value that constructors set
	Sum      *Cover   // checksum field; decode never checks it, verify does
}

// Solve says: the encoder sets the item to (measure - B) / A, measure being Of's count (arrays without `sized`) or its
// size in bytes. A remainder or a result that the item cannot hold is E_NOFIT.
type Solve struct {
	Of    Ref // from the struct that holds the array, the span or the `sized` item; empty when Whole is set
	A, B  int64
	Whole *Struct // the measure is the size of this struct, whose Sized names the item; nil = see Of
}

// SolveFor is the solve that a test accepts, of the body that is being encoded; nil = none.
func (s *Scalar) SolveFor(mine func(*Solve) bool) *Solve {
	if s.Solve != nil && mine(s.Solve) {
		return s.Solve
	}
	for _, so := range s.Others {
		if mine(so) {
			return so
		}
	}
	return nil
}

// Cover is what a checksum field covers.
type Cover struct {
	Sum *Sum
	// Before: from the start of the outermost container to this field, and nothing else; Parts is nil then.
	Before bool
	Parts  []*CoverPart // one behind the other
	// ZeroNone: a zero on the wire means that there is no sum; a computed zero is sent as all ones.
	ZeroNone bool
}

// CoverKind tells the parts of a Cover apart.
type CoverKind int

// The kinds of covered parts. Sums that a part holds count as zeros when it is the sum itself.
const (
	CoverFill   CoverKind = iota // Count bytes of Fill
	CoverBefore                  // from the start of the outermost container to the sum
	CoverSelf                    // the whole struct that holds the sum
	CoverItems                   // items First to Last of the struct that holds the sum, as far as they are present
	CoverParam                   // the bytes of a parameter before its payload; the sum is unverified when the caller gives none
)

// CoverPart is one part of what a checksum covers.
type CoverPart struct {
	Kind        CoverKind
	Count       int
	Fill        byte // 0x00 or 0xff
	First, Last *Item
	Param       *Param
	Except      []Ref // bits that count as Mask, from the struct that holds the sum; through Param for a parameter
	Mask        byte  // 0x00 or 0xff
}

// Vector is bits<N>: bit i lies in byte i/8 under mask 0x80>>(i%8) and, in memory, at bit 63-i%64 of word i/64.
type Vector struct {
	Bits  int
	Index string // the index name of `bit i means ...`; empty when unstated
	Means string // source text of the meaning, for labels
}

// Array holds equal elements: structs or scalars, counted or up to the container's end.
type Array struct {
	Struct   *Struct
	Scalar   *Scalar
	Args     []*Expr
	Count    *Expr // nil = greedy
	MaxCount int   // from the count's interval; < 0 when greedy
	Solve    *Ref  // the scalar that the encoder sets to the count, reached from this struct; nil = none
}

// SpanKind tells bytes from text, payload and padding.
type SpanKind int

// The kinds of spans.
const (
	SpanBytes  SpanKind = iota
	SpanString          // UTF-8, checked with E_STRING
	SpanPayload
	SpanPad // its value is its length; the bytes must be zero (E_PADDING) unless Ignore
)

// Span is a run of bytes without inner structure.
type Span struct {
	Kind     SpanKind
	Size     *Expr // nil = greedy, unless Align is set
	Align    int   // `pad align n`: as many bytes as lead to a multiple of n, counted from the start of the struct; 0 = none
	By       []Ref // payload: the items that name the next protocol, the first one first
	Next     *Next // payload: where its protocol is looked up; nil = nowhere but in tables of its own
	Fixed    int   // size in bytes when it is constant (then part of a Run), else -1
	Min, Max int   // `in a..b` on the length; Max < 0 = none (E_RANGE)
	Ignore   bool  // pad: any bytes accepted
	Opaque   bool  // ciphertext
	ASCII    bool  // string: no byte above 0x7f (E_STRING)
	Padded   bool  // string of constant size: its value ends at the first NUL, behind which only NULs may stand (E_PADDING)
}

// Switch chooses one of several layouts.
type Switch struct {
	Selector Ref
	Arms     []*Arm
}

// Arm is one case of a Switch. At most one of Struct and Reject is set; neither = nothing follows.
type Arm struct {
	Name   Name
	Doc    []string
	Labels []Range // empty = `_`, everything else
	Struct *Struct // named or synthetic
	Args   []*Expr
	Reject *Code
}

// List is a TLV list: it ends with its container.
type List struct {
	Name         Name
	Doc          []string
	Max          int      // bytes of the whole list (E_SIZE)
	Params       []*Param // usable in SkipIf
	Head         *Struct  // fixed size
	Key          *Item    // item of Head; the first one of Keys
	Keys         []*Item  // a key of several items; nil = Key alone
	Length       *Expr    // value bytes, over Head's items
	LengthOf     *Item    // the head item the encoder sets
	Scale        *Scale   // value bytes = A*LengthOf + B; nil = the item itself (A=1, B=0)
	ElementAlign int      // zeros (E_PADDING) after each value up to this multiple; 1 = none
	End          *uint64  // key after which only filling follows (E_PADDING); nil = none
	Bares        []*Bare  // elements that are a key and nothing else: skipped, not kept
	Fill         *Fill    // the list's alignment and what follows End; nil = any size, zeros
	Ascending    bool     // keys must not decrease (E_TLV_ORDER)
	Strict       bool     // keys must increase (E_TLV_ORDER); Ascending is set as well
	SkipIf       *Expr    // unknown key: skipped when true, else Unknown; over Head's items and Params; nil = always skipped
	Unknown      *Code    // error of an unknown key that is not skipped; nil = E_TLV_UNKNOWN
	Cases        []*Case
}

// Scale is the factor and the distance of a linear length.
type Scale struct{ A, B int64 }

// Bare is an element that consists of its key, for example a no-operation.
type Bare struct {
	Name Name
	Doc  []string
	Keys Range
}

// Fill says how a list ends.
type Fill struct {
	Align  int  // the encoder pads the list to a multiple of this with the first of Bares, else with End and Byte; 1 = none
	Byte   byte // what follows End: anything else is E_PADDING
	Ignore bool // anything may follow End; zeros are sent
}

// Case is one known TLV. Its value must fill the element exactly (E_TLV_LENGTH).
type Case struct {
	Name     Name
	Doc      []string
	Key      uint64    // the first number of the key's first item: what the encoder writes unless Head says otherwise
	Keys     [][]Range // alternatives: one range per item of the key; nil = Key alone
	Head     []*Item   // items of the list's head that an element keeps, because neither key nor length settles them
	Struct   *Struct   // nil = empty value
	Args     []*Expr   // one per Struct.Params, over the list's Params
	Unique   bool      // a second one is E_TLV_DUPLICATE
	Required bool      // absence is E_TLV_MISSING
}

// Example is an example or reject block; the compiler runs it through the interpreter.
type Example struct {
	Name         string
	Struct       *Struct
	Params       []Argument // in the order of the struct's parameters; those with Given unset have no value
	Bytes        []byte
	Fields       []Expect // example: wanted values
	Consumed     int      // -1 = all
	NonCanonical bool     // encode(decode(bytes)) differs
	Code         *Code    // reject: wanted error
	At           string   // reject: wanted item path; "" = any
	Pos          string   // file:line:col
}

// Argument is the value of a parameter: a number, or the bytes of a header.
type Argument struct {
	Given  bool
	Number uint64
	Struct *Struct
	Bytes  []byte
}

// Expect is one wanted value: an item path as in vectors, and its text form.
type Expect struct{ Path, Value string }
