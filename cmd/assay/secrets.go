package main

import (
	"fmt"

	"assay/diag"
	"assay/internal/redact"
	"assay/summary"
)

// hide takes secrets out of a summary and, if redact was asked for, names of users.
// It says how many there were.
func (s *source) hide(sum *summary.Summary) {
	r := redact.New(s.redact)
	r.Strings(sum)
	if n := r.Secrets(); n > 0 {
		sum.Issues = append(sum.Issues, summary.Issue{
			Code: "secrets-masked", Severity: diag.Info.String(), Count: int64(n),
			Help: fmt.Sprintf("names in the capture hold what looks like secrets (%s); assay masks them in all that it writes, but the file has them: do not give it away, and have them replaced", r.Kinds()),
		})
	}
	sum.Sort()
}

// hidden returns what takes secrets out of anything else that is to be written.
func (s *source) hidden(v any) {
	redact.New(s.redact).Strings(v)
}

// secretsInCapture is the issue that counts the secrets of an input, wherever in it
// they are.
func secretsInCapture(path string, n int64) summary.Issue {
	return summary.Issue{
		Code: "secrets-in-capture", Severity: diag.Info.String(), Count: n, First: path,
		Help: "the file holds what looks like secrets (tokens, keys, passwords), in names, arguments or its metadata; assay shows none of them; before you give it away, redact them, and record in a clean environment next time",
	}
}
