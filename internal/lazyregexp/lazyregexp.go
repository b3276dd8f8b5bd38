// Package lazyregexp compiles regular expressions when they are first used.
//
// The program knows dozens of formats and a run uses one or two of them.
// Compiling the expressions of all formats would take longer than reading a
// small trace.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expression, the same each
// time. The function panics if expr is invalid, as [regexp.MustCompile] does. A
// test of the layout compiles all expressions of the program.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
