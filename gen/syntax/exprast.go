// SPDX-License-Identifier: Apache-2.0

package syntax

import "math/big"

// ExprKind tells the kinds of expressions apart.
type ExprKind int

// The kinds of expressions.
const (
	ExprNumber  ExprKind = iota // Num
	ExprText                    // Text
	ExprBool                    // Text is true or false
	ExprSelf                    // self
	ExprPath                    // Names
	ExprCall                    // Text is the function
	ExprUnary                   // Text is the operator
	ExprBinary                  // Text is the operator
	ExprTernary                 // Args are condition, then, else
	ExprIn                      // Args[0] in Ranges
)

// Expr is an expression.
type Expr struct {
	Pos    Pos
	EndPos Pos
	Kind   ExprKind
	Num    *big.Int
	Text   string
	Names  []*Ident
	Args   []*Expr
	Ranges []*Range
	Paren  bool // stands in parentheses
}

// Term is an expression without comparison and logic: what stands on either side of `..`.
type Term struct{ Expr }
