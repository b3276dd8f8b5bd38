package main

import (
	"io"

	"assay/diag"
	"assay/internal/redact"
	"assay/summary"
)

// A masked value has no secret in any of its texts: only [mask] makes one.
type masked[T any] struct{ value T }

// mask takes the secrets out of every text that v leads to. Lists and what pointers
// lead to are changed in their place.
func mask[T any](v T) masked[T] {
	r := redact.New(false)
	r.Strings(&v)
	if parts, ok := any(&v).(interface{ Texts() []any }); ok {
		for _, part := range parts.Texts() {
			r.Strings(part)
		}
	}
	return masked[T]{v}
}

// A result is what a command writes to standard output or to a file. Each is made
// of a masked value: texts are masked before they are encoded, because no search
// finds a secret behind the escapes or the compression of a format.
type result struct{ encode func(io.Writer) error }

// as returns the result that encode writes of the value.
func (m masked[T]) as(encode func(T, io.Writer) error) result {
	return result{func(w io.Writer) error { return encode(m.value, w) }}
}

// withoutSecrets masks the secrets of one input's summary and says how many there
// were. It comes before summaries are merged: names that differ only in a secret
// become one, whether the summary was saved in between or not.
func withoutSecrets(sum *summary.Summary, path string) *summary.Summary {
	r := redact.New(false)
	r.Strings(sum)
	if n := r.Secrets(); n > 0 {
		sum.Issues = append(sum.Issues, summary.Issue{
			Code: "secrets-masked", Severity: diag.Info.String(), Count: int64(n), First: redact.Mask(path),
			Help: "names in the capture hold what looks like secrets; assay masks them in all that it writes, but the file has them: do not give it away, and have them replaced",
		})
		sum.Sort()
	}
	return sum
}

// hide takes the names of users out of a summary if --redact is given.
func (s *source) hide(sum *summary.Summary) {
	s.hidden(sum)
	sum.Sort()
}

// hidden takes the names of users out of anything else if --redact is given.
func (s *source) hidden(v any) {
	if s.redact {
		redact.New(true).Strings(v)
	}
}

// secretsInCapture is the issue that counts the secrets of an input, wherever in it
// they are.
func secretsInCapture(path string, n int64) summary.Issue {
	return summary.Issue{
		Code: "secrets-in-capture", Severity: diag.Info.String(), Count: n, First: path,
		Help: "the file holds what looks like secrets (tokens, keys, passwords), in names, arguments or its metadata; assay masks them in all that it writes; remove them before you give the file away, and record in a clean environment",
	}
}
