package main

import (
	"fmt"
	"strconv"
	"strings"

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

// withoutTyped returns a message without the secrets that the arguments of the command have. A message
// often quotes a part of an argument, which a comma ends, and the part alone does not show that it is a
// secret.
func (c *command) withoutTyped(message string) string {
	const shortest = 6
	for _, arg := range c.typed {
		for _, secret := range redact.Secrets(arg) {
			for _, part := range append([]string{secret}, strings.Split(secret, ",")...) {
				if len(part) < shortest {
					continue
				}
				quoted := strconv.Quote(part)
				for _, text := range []string{part, quoted[1 : len(quoted)-1]} {
					message = strings.ReplaceAll(message, text, "[variable]")
				}
			}
		}
	}
	return message
}
