// SPDX-License-Identifier: Apache-2.0

package gen

// Step is one instruction of a struct's decode program. State: the buffer, an offset, the container's end.
//
// Errors, identical in every backend: the first failing step wins, and inside a Run the order of its Checks.
// A read beyond the container's end is E_SHORT; inside a TLV value, E_SHORT and E_TRAILING become E_TLV_LENGTH.
type Step interface{ step() }

// Run reads Size bytes at once: E_SHORT first, then each of Checks in order.
type Run struct {
	Size   int // bytes
	Parts  []Part
	Checks []*Check
}

// Part is an item inside a Run: a scalar, reserved bits, a vector, a fixed span or a nested struct of fixed size.
type Part struct {
	Item *Item
	Bit  int // offset from the start of the run; a multiple of 8 for all but scalars
}

// CheckKind is the family of a Check; its code follows from it, except for CheckWhere.
type CheckKind int

// The kinds of checks.
const (
	CheckFixed    CheckKind = iota // E_FIXED
	CheckReserved                  // E_RESERVED
	CheckRange                     // E_RANGE
	CheckEnum                      // E_ENUM
	CheckDerived                   // E_DERIVED
	CheckWhere                     // E_WHERE or the code named after else
)

// Check must hold after decoding. Item is the offender that the error names: for Where, the last item that Hold reads.
// Nested structs' checks are copied into the enclosing run with the longer Ref.
type Check struct {
	Kind CheckKind
	Code *Code
	Item Ref
	Bit  int    // of Item, from the start of its Run; -1 outside a run
	Hold *Expr  // must be true
	Text string // source text of the rule, for messages
}

// Call decodes a struct of variable size. A windowed call gets everything up to the container's end less Reserve
// and must fill it exactly (E_TRAILING); another one delimits itself.
type Call struct {
	Item     *Item
	Windowed bool
	Reserve  int   // bytes of trailers behind it; fewer left is E_SHORT
	Tail     *Expr // further bytes of trailers, known before the step; nil = none. Windowed calls only
}

// Repeat decodes an array.
type Repeat struct {
	Item    *Item
	Reserve int   // greedy arrays only
	Tail    *Expr // as in Call
}

// Take reads a span whose size is not constant.
type Take struct {
	Item    *Item
	Reserve int   // greedy spans only
	Tail    *Expr // as in Call
}

// Elements decodes a TLV list up to the container's end less Reserve.
type Elements struct {
	Item    *Item
	Reserve int
	Tail    *Expr // as in Call
}

// Branch is an if-block or a conditional item.
type Branch struct {
	Cond       *Expr
	Then, Else []Step
}

// Choose decodes the arm that the selector names. Windowed as in Call, when the arm's struct is greedy.
type Choose struct {
	Item    *Item
	Reserve int
	Tail    *Expr // as in Call
}

// Limit ends the struct's container Size bytes behind the struct's own start. Less than what is decoded already plus Rest is
// E_SIZE, more than the container holds is E_SHORT. What follows must fill it exactly (E_TRAILING at the struct).
type Limit struct {
	Size *Expr
	Rest int // bytes that must follow at least
	Item Ref // the offender: the last item that Size reads
}

// Window runs Body, which decodes Item, in a container of Size bytes that it must fill exactly (E_TRAILING at Item). Less
// than Least is E_SIZE. More than is left is E_SIZE behind a Limit of the same struct and E_SHORT otherwise.
type Window struct {
	Item    *Item
	Size    *Expr
	Least   int
	Limited bool // a Limit of the same struct stands before it
	Body    []Step
}

// Verify runs checks that no single run owns, for example those over a span's size.
type Verify struct{ Checks []*Check }

func (*Run) step()      {}
func (*Call) step()     {}
func (*Repeat) step()   {}
func (*Take) step()     {}
func (*Elements) step() {}
func (*Branch) step()   {}
func (*Choose) step()   {}
func (*Verify) step()   {}
func (*Limit) step()    {}
func (*Window) step()   {}
