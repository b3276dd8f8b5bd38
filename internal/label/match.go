package label

import "strings"

// Like reports whether a name is like a pattern: all of it, where "*" in the pattern stands
// for anything.
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

// Finds reports whether a pattern that a user types finds a name, as it is recorded or as
// reports show it. With "*" in it, or the ellipsis with which reports shorten names, it is like
// all of the name; else it is a part of it, in any letter case.
func Finds(pattern, name string) bool {
	pattern = strings.ReplaceAll(pattern, Ellipsis, "*")
	if strings.Contains(pattern, "*") {
		return Like(pattern, name) || Like(pattern, TidyKernel(name))
	}
	pattern = strings.ToLower(pattern)
	return strings.Contains(strings.ToLower(name), pattern) || strings.Contains(strings.ToLower(TidyKernel(name)), pattern)
}
