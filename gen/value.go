// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"strings"
)

// Value is one node of a decoded packet: the packet itself, an item, an array element or a TLV element.
// Exactly one of Num, Bytes and Kids carries what the node holds; pads hold their length in Num.
type Value struct {
	Item   *Item   // nil for the root, array elements and TLV elements
	Struct *Struct // what Kids are the items of; nil for leaves, arrays, lists, empty arms and empty cases
	Arm    *Arm    // of a switch item: the arm that was taken
	Scalar *Scalar // layout of a number; nil unless a scalar item or an element of a scalar array
	Case   *Case   // of a TLV element; nil for an unknown one, whose value then lies in Bytes
	Off    int     // where it starts: byte of the root buffer
	Bit    int     // and bit in that byte, counted from the most significant
	Width  int     // bits
	Num    uint64  // scalars, reserved bits (two's complement in Scalar.Bits bits) and pads
	Bytes  []byte  // vectors and spans; aliases the buffer after Decode
	Kids   []*Value
	Pad    int    // of a list: bytes after the last element, the end marker included
	Raw    []byte // of a root: its bytes before the payload
}

// Number returns a Value for a scalar parameter.
func Number(n uint64) *Value { return &Value{Num: n} }

// Find returns the kid that holds item, or nil.
func (v *Value) Find(item *Item) *Value {
	for _, k := range v.Kids {
		if k.Item == item {
			return k
		}
	}
	return nil
}

// Clone copies the tree; byte slices are shared.
func (v *Value) Clone() *Value {
	c := *v
	c.Kids = make([]*Value, len(v.Kids))
	for i, k := range v.Kids {
		c.Kids[i] = k.Clone()
	}
	return &c
}

// Leaf reports whether the node holds a number or bytes of its own.
func (v *Value) Leaf() bool {
	return v.Struct == nil && !v.isArray() && !v.isList() && !v.isSwitch()
}

func (v *Value) isArray() bool  { return v.Item != nil && v.Item.Kind == KindArray }
func (v *Value) isList() bool   { return v.Item != nil && v.Item.Kind == KindList }
func (v *Value) isSwitch() bool { return v.Item != nil && v.Item.Kind == KindSwitch }

// Field is one node of a decoded packet together with its path.
type Field struct {
	Path  string
	Depth int    // 0 for the items of the packet
	Text  string // value as vectors write it; empty unless Node.Leaf or an empty TLV case
	Node  *Value
}

// Fields lists every node below v in wire order, containers before what they hold.
func Fields(v *Value) []Field {
	var out []Field
	v.walk("", 0, func(f Field) { out = append(out, f) })
	return out
}

// Flatten gives the values that vectors record, by item path: numbers in decimal, flags 0 and 1, bytes and vectors
// "hex:…", strings "text:…", pads their length, an empty TLV case "1". Unnamed items and unknown elements are left out.
func Flatten(v *Value) map[string]string {
	m := map[string]string{}
	for _, f := range Fields(v) {
		if f.Text != "" && !strings.HasSuffix("."+f.Path, "._") {
			m[f.Path] = f.Text
		}
	}
	return m
}

// Lookup returns the node at an item path, or nil.
func (v *Value) Lookup(path string) *Value {
	if path == "" {
		return v
	}
	for _, f := range Fields(v) {
		if f.Path == path {
			return f.Node
		}
	}
	return nil
}

func (v *Value) walk(path string, depth int, visit func(Field)) {
	seen := map[*Case]int{}
	for i, k := range v.Kids {
		p := kidPath(path, v, i, seen)
		visit(Field{Path: p, Depth: depth, Text: k.text(), Node: k})
		k.walk(p, depth+1, visit)
	}
}

// kidPath names the i-th kid of v, which stands at path. seen counts the elements of each case so far.
func kidPath(path string, v *Value, i int, seen map[*Case]int) string {
	k := v.Kids[i]
	switch {
	case v.isArray():
		return kidIndex(path, i)
	case v.isList() && k.Case != nil:
		n := seen[k.Case]
		seen[k.Case]++
		return casePath(path, k.Case, n)
	case v.isList():
		return joinPath(path, fmt.Sprintf("?%d", i))
	case k.Arm != nil:
		return joinPath(path, armName(k.Arm))
	}
	return joinPath(path, k.Item.Name.Schema)
}

func kidIndex(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

func casePath(list string, c *Case, n int) string {
	p := joinPath(list, c.Name.Schema)
	if !c.Unique && !c.Required {
		p = kidIndex(p, n)
	}
	return p
}

// armName is the arm's part of an item path.
func armName(a *Arm) string { return snake(a.Name.Schema) }

func joinPath(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// greedy tells whether a span takes all that is left of its container.
func (s *Span) greedy() bool { return s.Size == nil && s.Align == 0 && s.Fixed < 0 }
