package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"assay/ingest"
	"assay/internal/diag"
	"assay/internal/label"
	"assay/internal/redact"
)

// say prints one message line to standard error. Messages contain names and contents of files, so
// control characters, which could steer the terminal or forge a second line, are escaped, and
// secrets are masked.
func (e env) say(format string, args ...any) {
	line := maskedMessage(fmt.Sprintf(format, args...), args)
	if h, ok := e.stderr.(hider); ok {
		line = h.without(line)
	}
	line = label.Printable(line)
	if inRunner() {
		line = inertMarks(line, `\#`)
	}
	fmt.Fprintln(e.stderr, line)
}

// maskedMessage masks the secrets of a message. The file of an error is masked by itself: a file named
// "secrets.json" is not the name of a secret whose value follows.
func maskedMessage(text string, args []any) string {
	for _, arg := range args {
		err, _ := arg.(error)
		file, at, refused := "", (*diag.Error)(nil), (*ingest.Refusal)(nil)
		switch {
		case errors.As(err, &at):
			file = at.Pos.String()
		case errors.As(err, &refused):
			file = refused.Path
		}
		if head, tail, ok := strings.Cut(text, file+": "); ok && file != "" {
			return redact.Mask(head+file) + ": " + redact.Mask(tail)
		}
	}
	return redact.Mask(text)
}

// A hider is standard error of a command whose arguments have secrets.
type hider struct {
	io.Writer
	secrets []string
}

// hiding returns a hider if arguments have secrets, or standard error as it is.
func hiding(stderr io.Writer, args []string) io.Writer {
	const shortest = 6
	h := hider{Writer: stderr}
	for _, arg := range args {
		for _, secret := range redact.Secrets(arg) {
			for _, part := range append([]string{secret}, strings.FieldsFunc(secret, separates)...) {
				if part = strings.TrimSpace(part); len(part) >= shortest {
					quoted := strconv.Quote(part)
					h.secrets = append(h.secrets, part, quoted[1:len(quoted)-1])
				}
			}
		}
	}
	if h.secrets == nil {
		return stderr
	}
	return h
}

// separates reports whether an argument is split at a character: lists at commas, paths at slashes.
func separates(c rune) bool { return c == ',' || c == '/' || c == '\n' }

// without returns a message without the secrets of the arguments. A message often has a part of an
// argument, or a cleaned path, which alone does not show that it is a secret.
func (h hider) without(message string) string {
	for _, secret := range h.secrets {
		message = strings.ReplaceAll(message, secret, "[variable]")
	}
	return message
}
