// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"strings"
	"unicode"
)

// typeName maps the name of a type, a constant, a member or an arm.
func typeName(schema string) Name {
	return Name{
		Schema: schema,
		Go:     escape(strings.ReplaceAll(schema, "_", ""), goWords),
		C:      escape(snake(schema), cWords),
		Filter: escape(snake(schema), luaWords),
	}
}

// itemName maps the name of an item, a parameter or a TLV case.
func itemName(schema string) Name {
	return Name{
		Schema: schema,
		Go:     escape(camel(schema), goMethods),
		C:      escape(schema, cWords),
		Filter: escape(schema, luaWords),
	}
}

// escape appends an underscore to a word that the target reserves.
func escape(name, words string) string {
	if strings.Contains(words, " "+name+" ") {
		return name + "_"
	}
	return name
}

// The words that a target reserves, each between spaces.
const (
	// goMethods are the methods of generated Go types: a field cannot share their names.
	goMethods = " Decode Append AppendRaw Len Validate Put Check Valid Fields Unwrap String Error "
	// goWords are the types and helpers that every generated Go package declares.
	goWords  = " Error ErrorCode Bits256 Space "
	luaWords = " and break do else elseif end false for function goto if in local nil not or repeat return then true until while "
	cWords   = " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const" +
		" const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern false" +
		" float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private" +
		" protected public register reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct" +
		" switch template this thread_local throw true try typedef typeid typename typeof union unsigned using virtual void" +
		" volatile wchar_t while xor xor_eq int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t NULL "
)

// snake turns CamelCase into snake_case; runs of capitals count as one word.
func snake(name string) string {
	var b strings.Builder
	r := []rune(name)
	for i, c := range r {
		if unicode.IsUpper(c) && i > 0 && r[i-1] != '_' {
			after := i+1 < len(r) && unicode.IsLower(r[i+1])
			if !unicode.IsUpper(r[i-1]) || after {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// camel turns snake_case into CamelCase.
func camel(name string) string {
	var b strings.Builder
	for _, part := range strings.Split(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}
