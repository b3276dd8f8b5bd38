package inspect

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/label"
)

// maxNames is how many names are suggested.
const maxNames = 5

// suggest returns the names that are most like a pattern, in which no name is found. Of equally
// near ones the first come first. If none is near, it returns the first.
func suggest(pattern string, names []string) Suggestion {
	const most = 2000 // names that are compared
	type scored struct {
		name string
		off  int // in letters
	}
	want, letters := words(pattern), 0
	var all []scored
	for i, name := range names[:min(most, len(names))] {
		parts, off := words(name), 0
		for _, w := range want {
			best := len(w)
			for _, p := range parts {
				best = min(best, distance(w, p))
			}
			off += best
			if i == 0 {
				letters += len(w)
			}
		}
		all = append(all, scored{name, off})
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.off, b.off) })
	var out Suggestion
	for _, s := range all {
		if s.off <= letters/2 && s.off < letters && len(out.Names) < maxNames {
			out.Names, out.Near = append(out.Names, s.name), true
		}
	}
	if !out.Near {
		out.Names = slices.Clone(names[:min(maxNames, len(names))])
	}
	return out
}

// joinSuggestions joins those of several inputs. Near names count before others.
func joinSuggestions(all []Suggestion) (out Suggestion) {
	for _, s := range all {
		if s.Near && !out.Near {
			out = Suggestion{Near: true}
		}
		if s.Near != out.Near {
			continue
		}
		for _, n := range s.Names {
			if len(out.Names) < maxNames && !slices.Contains(out.Names, n) {
				out.Names = append(out.Names, n)
			}
		}
	}
	return out
}

// words returns the words of a name in small letters, at most 64 of at most 32 bytes.
func words(name string) (out []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 128 && (!label.IsWord(byte(r)) || r == '_') }) {
		if len(out) < 64 {
			out = append(out, w[:min(32, len(w))])
		}
	}
	return out
}

// distance returns how far b is from a, in letters. A beginning of b is as near as one letter.
func distance(a, b string) int {
	if strings.HasPrefix(b, a) {
		return min(1, len(b)-len(a))
	}
	return label.Edits(a, b)
}
