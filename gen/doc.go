// SPDX-License-Identifier: Apache-2.0

// Package gen turns a schema into a Protocol: every name resolved, every bit placed, every check ordered. All decisions
// about layout and errors are made here, once. Backends print a Protocol, and the interpreter of this package runs it;
// that is how the languages come to agree.
//
//	load.go  compile*.go      schema file → declarations → Protocol
//	resolve*.go  names.go     names, types, conditions, expressions
//	interval.go               exact arithmetic on the ranges of values
//	layout*.go                runs, steps, sizes: the decode program
//	ir.go  steps.go  expr.go  codes.go   the Protocol itself
//	refusal.go  spot.go       what backends have no form for, and where it stands
//	interp*.go  value*.go     the interpreter: the oracle of all backends
package gen
