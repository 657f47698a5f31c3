// SPDX-License-Identifier: Apache-2.0

// Package tidy holds the house rules that a machine can check: sizes, import directions, purity of the engine, licences,
// package docs, and the truth of the project's documents. Its tests apply every rule to the whole tree.
//
// A finding names a file, a line and what to do instead. When a rule is wrong for one place, that place is listed with a
// reason in exceptions.txt; an exception that nothing needs any more fails the test, so the list can only shrink.
// Every rule has a small tree in testdata on which it must fail.
package tidy
