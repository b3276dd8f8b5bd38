package label

import "strings"

// Like reports whether a pattern matches all of a name; "*" in the pattern matches any text.
func Like(pattern, name string) bool {
	if pattern == name {
		return true
	}
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return false
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		var found bool
		if _, rest, found = strings.Cut(rest, part); !found {
			return false
		}
	}
	return ok && strings.HasSuffix(rest, last)
}

// Finds reports whether a user's pattern matches a name, as recorded or as reports show it. A
// pattern with "*", or with the ellipsis of shortened names, must match all of the name. Any other
// pattern matches a part of it, ignoring case.
func Finds(pattern, name string) bool {
	pattern = strings.ReplaceAll(pattern, Ellipsis, "*")
	if strings.Contains(pattern, "*") {
		return Like(pattern, name) || Like(pattern, TidyKernel(name))
	}
	pattern = strings.ToLower(pattern)
	return strings.Contains(strings.ToLower(name), pattern) || strings.Contains(strings.ToLower(TidyKernel(name)), pattern)
}
