package settings

import (
	"strconv"
	"strings"
	"unicode"

	"assay/internal/redact"
)

// A maskedError is an error in a settings file whose message has a secret of the file
// replaced.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }

func (e *maskedError) Unwrap() error { return e.err }

// words returns the parts of a text that may name a secret.
func words(s string) []string {
	return strings.FieldsFunc(s, func(c rune) bool {
		return c != '_' && c != '-' && c != '.' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
}

// WithoutValues returns an error of the file without the values that the file gives to
// names of secrets. A message quotes the value, and the name is outside the quotes or not
// in the message, so [redact.Mask] alone does not recognise it.
func WithoutValues(file []byte, err error) error {
	if err == nil {
		return nil
	}
	message := err.Error()
	var out strings.Builder
	for rest := message; rest != ""; {
		at := strings.IndexByte(rest, '"')
		if at < 0 {
			out.WriteString(rest)
			break
		}
		out.WriteString(rest[:at])
		quoted, bad := strconv.QuotedPrefix(rest[at:])
		if bad != nil {
			out.WriteByte('"')
			rest = rest[at+1:]
			continue
		}
		rest = rest[at+len(quoted):]
		if value, bad := strconv.Unquote(quoted); bad == nil && isSecretValue(string(file), value) {
			quoted = `"[variable]"`
		}
		out.WriteString(quoted)
	}
	if out.String() == message {
		return err
	}
	return &maskedError{out.String(), err}
}

// isSecretValue reports whether a line of the file has the value after a name of a
// secret. The name may also be a key of an outer mapping, which a line above has.
func isSecretValue(file, value string) bool {
	value = strings.Trim(value, " \t\r\n<>=!\"'{}[],")
	if value == "" {
		return false
	}
	type outer struct {
		indent int
		names  []string
	}
	var above []outer
	for line := range strings.Lines(file) {
		text := strings.TrimLeft(line, " \t-")
		indent := len(line) - len(text)
		for len(above) > 0 && above[len(above)-1].indent >= indent {
			above = above[:len(above)-1]
		}
		for _, o := range above {
			if strings.Contains(line, value) && namesSecret(o.names, value) {
				return true
			}
		}
		if at := strings.LastIndex(line, value); at >= 0 && namesSecret(words(line[:at]), value) {
			return true
		}
		if key, _, ok := strings.Cut(text, ":"); ok {
			above = append(above, outer{indent, words(key)})
		}
	}
	return false
}

// namesSecret reports whether the value would be masked as that of a variable with one
// of the names.
func namesSecret(names []string, value string) bool {
	for _, name := range names {
		if redact.Count(name+"="+value) > 0 {
			return true
		}
	}
	return false
}
