// Package lazyregexp compiles regular expressions when they are first used.
//
// The program knows dozens of formats and a run meets one or two: compiling the
// expressions of all of them would take longer than reading a small trace.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expression, the same each time.
// The function panics if it is none, as [regexp.MustCompile] does: a test of the
// layout compiles all that are written in the program.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
