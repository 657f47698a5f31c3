// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"slices"
)

// Feature is a construct of the language that a backend may not be able to print yet.
type Feature string

// The features. What is not listed here every backend prints.
const (
	FeatureSized       Feature = "`sized` by a field"
	FeatureTail        Feature = "trailers of variable size"
	FeatureAlign       Feature = "`pad align`"
	FeatureCover       Feature = "a coverage other than `over before`"
	FeatureOnes        Feature = "a ones' complement sum"
	FeatureUnion       Feature = "a parameter of several types"
	FeatureDefault     Feature = "a parameter's default"
	FeatureVector      Feature = "a bit vector that is no multiple of 64 bits"
	FeatureSigned      Feature = "a signed integer"
	FeatureSignedRange Feature = "a range of a signed integer"
	FeatureLittle      Feature = "a little-endian integer"
	FeatureLint        Feature = "`else lint`"
	FeatureListParam   Feature = "parameters of a TLV list"
	FeatureListKeys    Feature = "TLV keys of several items, ranges or alternatives"
	FeatureListHead    Feature = "TLV elements that keep items of their head"
	FeatureListLength  Feature = "a TLV length that is a factor or distance away"
	FeatureListBare    Feature = "bare TLV elements besides `end`"
	FeatureListFill    Feature = "`align` of a TLV list"
	FeatureListStrict  Feature = "`order strict`"
	FeatureListUnknown Feature = "an own error for unknown TLV elements"
)

// Use is one place where a schema uses a feature.
type Use struct {
	Feature Feature
	Where   string // "Struct.item", "Struct" or "List"
}

// Refuse returns an error that names the first construct of p beyond those that a backend knows; nil when it knows all.
func (p *Protocol) Refuse(known ...Feature) error {
	for _, u := range p.Features() {
		if !slices.Contains(known, u.Feature) {
			return fmt.Errorf("%s: %s: not supported", u.Where, u.Feature)
		}
	}
	return nil
}

// Features lists the uses of features in the order of declaration.
func (p *Protocol) Features() []Use {
	u := &uses{}
	for _, s := range p.Sums {
		u.when(s.Kind == SumOnes, FeatureOnes, s.Name.Schema)
	}
	for _, l := range p.Lists {
		u.list(l)
	}
	for _, s := range p.Structs {
		u.structure(s)
	}
	return u.all
}

type uses struct{ all []Use }

// condition tells whether a feature is used.
type condition bool

func (u *uses) when(used condition, f Feature, where string) {
	if used {
		u.all = append(u.all, Use{f, where})
	}
}

func (u *uses) list(l *List) {
	name := l.Name.Schema
	u.when(len(l.Params) > 0, FeatureListParam, name)
	u.when(l.Keys != nil, FeatureListKeys, name)
	u.when(l.Scale != nil, FeatureListLength, name)
	u.when(len(l.Bares) > 0, FeatureListBare, name)
	u.when(l.Fill != nil, FeatureListFill, name)
	u.when(condition(l.Strict), FeatureListStrict, name)
	u.when(l.Unknown != nil, FeatureListUnknown, name)
	for _, c := range l.Cases {
		u.when(c.Keys != nil && l.Keys == nil, FeatureListKeys, name+"."+c.Name.Schema)
		u.when(len(c.Head) > 0, FeatureListHead, name+"."+c.Name.Schema)
	}
}

func (u *uses) structure(s *Struct) {
	name := s.Name.Schema
	u.when(s.Sized != nil, FeatureSized, name)
	u.when(len(s.Lints) > 0, FeatureLint, name)
	for _, p := range s.Params {
		u.when(p.Any != nil || condition(p.Cover), FeatureUnion, name+"."+p.Name.Schema)
		u.when(p.Default != nil, FeatureDefault, name+"."+p.Name.Schema)
	}
	for _, it := range s.Items {
		u.item(it, name+"."+it.Name.Schema)
	}
	u.steps(s.Steps, name)
}

func (u *uses) item(it *Item, where string) {
	u.when(it.Sized != nil, FeatureSized, where)
	scalar := it.Scalar
	if it.Array != nil {
		scalar = it.Array.Scalar
	}
	if scalar != nil {
		u.when(condition(scalar.Signed), FeatureSigned, where)
		u.when(condition(scalar.Signed) && scalar.In != nil, FeatureSignedRange, where)
		u.when(condition(scalar.Little), FeatureLittle, where)
		u.when(scalar.Sum != nil && condition(!scalar.Sum.Before || scalar.Sum.ZeroNone), FeatureCover, where)
	}
	u.when(it.Vector != nil && it.Vector.Bits%64 != 0, FeatureVector, where)
	u.when(it.Span != nil && it.Span.Align > 0, FeatureAlign, where)
}

func (u *uses) steps(steps []Step, where string) {
	for _, s := range steps {
		var tail *Expr
		switch s := s.(type) {
		case *Call:
			tail = s.Tail
		case *Repeat:
			tail = s.Tail
		case *Take:
			tail = s.Tail
		case *Elements:
			tail = s.Tail
		case *Choose:
			tail = s.Tail
		case *Window:
			u.steps(s.Body, where)
		case *Branch:
			u.steps(s.Then, where)
			u.steps(s.Else, where)
		}
		u.when(tail != nil, FeatureTail, where)
	}
}
