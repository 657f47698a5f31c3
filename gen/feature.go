// SPDX-License-Identifier: Apache-2.0

package gen

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
	At      Declared
}

// Features lists the uses of features in the order of declaration.
func (p *Protocol) Features() []Use {
	u := &uses{}
	for _, s := range p.Sums {
		u.when(s.Kind == SumOnes, FeatureOnes, s)
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

func (u *uses) when(used condition, f Feature, at Declared) {
	if used {
		u.all = append(u.all, Use{f, at})
	}
}

func (u *uses) list(l *List) {
	u.when(len(l.Params) > 0, FeatureListParam, l)
	u.when(l.Keys != nil, FeatureListKeys, l)
	u.when(l.Scale != nil, FeatureListLength, l)
	u.when(len(l.Bares) > 0, FeatureListBare, l)
	u.when(l.Fill != nil, FeatureListFill, l)
	u.when(condition(l.Strict), FeatureListStrict, l)
	u.when(l.Unknown != nil, FeatureListUnknown, l)
	for _, c := range l.Cases {
		u.when(c.Keys != nil && l.Keys == nil, FeatureListKeys, c)
		u.when(len(c.Head) > 0, FeatureListHead, c)
	}
}

func (u *uses) structure(s *Struct) {
	u.when(s.Sized != nil, FeatureSized, s)
	u.when(len(s.Lints) > 0, FeatureLint, s)
	for _, p := range s.Params {
		u.when(p.Any != nil || condition(p.Cover), FeatureUnion, p)
		u.when(p.Default != nil, FeatureDefault, p)
	}
	for _, it := range s.Items {
		u.item(it)
	}
	u.steps(s.Steps, s)
}

func (u *uses) item(it *Item) {
	u.when(it.Sized != nil, FeatureSized, it)
	scalar := it.Scalar
	if it.Array != nil {
		scalar = it.Array.Scalar
	}
	if scalar != nil {
		u.when(condition(scalar.Signed), FeatureSigned, it)
		u.when(condition(scalar.Signed) && scalar.In != nil, FeatureSignedRange, it)
		u.when(condition(scalar.Little), FeatureLittle, it)
		u.when(scalar.Sum != nil && condition(!scalar.Sum.Before || scalar.Sum.ZeroNone), FeatureCover, it)
	}
	u.when(it.Vector != nil && it.Vector.Bits%64 != 0, FeatureVector, it)
	u.when(it.Span != nil && it.Span.Align > 0, FeatureAlign, it)
}

func (u *uses) steps(steps []Step, in *Struct) {
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
			u.steps(s.Body, in)
		case *Branch:
			u.steps(s.Then, in)
			u.steps(s.Else, in)
		}
		u.when(tail != nil, FeatureTail, in)
	}
}
