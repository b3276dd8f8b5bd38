package main

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/redact"
)

// say prints one message line to standard error. Messages contain names and contents of files, so
// control characters, which could steer the terminal or forge a second line, are escaped, and
// secrets are masked.
func (e env) say(format string, args ...any) {
	line := label.Printable(redact.Mask(fmt.Sprintf(format, args...)))
	if inRunner() {
		line = inertMarks(line, `\#`)
	}
	fmt.Fprintln(e.stderr, line)
}
