package main

import (
	"io"

	"assay/internal/diag"
	"assay/internal/redact"
	"assay/summary"
)

// masked is a value without secrets in any of its texts. Only [mask] makes one, so a function that
// takes a masked value cannot print a secret by mistake.
type masked[T any] struct{ value T }

// mask removes the secrets from every text in v. It changes slices, and values behind
// pointers, in place.
func mask[T any](v T) masked[T] {
	redact.New(false).Strings(&v)
	return masked[T]{v}
}

// result is what a command writes to standard output or to a file. It is made from a masked value:
// texts are masked before they are encoded, because a search does not find secrets in escaped or
// compressed text.
type result struct {
	encode func(io.Writer) error
	format string // of a document: "text", "md", "json", ...; "" for data of any kind
}

// as returns the result that encode produces from the value.
func (m masked[T]) as(encode func(T, io.Writer) error) result {
	return result{encode: func(w io.Writer) error { return encode(m.value, w) }}
}

// in is like as, for a document in the named format.
func (m masked[T]) in(format string, encode func(T, io.Writer) error) result {
	r := m.as(encode)
	r.format = format
	return r
}

// hide removes user names from a summary if --redact is given. It sorts again, because names are
// sort keys.
func (s *source) hide(sum *summary.Summary) {
	if s.redact {
		s.hideUsers(sum)
		sum.Sort()
	}
}

// hideUsers removes user names from any value if --redact is given.
func (s *source) hideUsers(v any) {
	if s.redact {
		redact.New(true).Strings(v)
	}
}

// secretsInCapture returns the issue that counts the secrets of an input.
func secretsInCapture(path string, n int64) summary.Issue {
	return summary.Issue{
		Code: "secrets-in-capture", Severity: diag.Info.String(), Count: n, First: path,
		Help: "The file has values that look like secrets (tokens, keys, passwords). assay masks them in its output. Remove them before you share the file, and record in a clean environment.",
	}
}
