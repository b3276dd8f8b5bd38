package main

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/internal/redact"
)

// say prints one line of talk to standard error. Names of files and what they
// hold are part of such lines, so what could steer the terminal or forge a
// second line is shown escaped, and secrets are masked.
func (e env) say(format string, args ...any) {
	line := label.Printable(redact.Mask(fmt.Sprintf(format, args...)))
	if inGitHub() {
		line = strings.ReplaceAll(line, "##[", `#\#[`)
	}
	fmt.Fprintln(e.stderr, line)
}
