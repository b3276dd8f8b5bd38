package ncu

import "assay/internal/redact"

// cut returns at most the given number of bytes of s, ending at the boundary of
// a character and before a secret that would be cut.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return redact.Cut(s, most)
}
