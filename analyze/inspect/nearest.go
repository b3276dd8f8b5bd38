package inspect

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/label"
)

// maxNames is the maximum number of suggested names.
const maxNames = 5

// suggest returns the names most similar to a pattern that matched nothing. Ties keep the order of
// names. If none is similar, it returns the first names.
func suggest(pattern string, names []string) Suggestion {
	const most = 2000 // number of names to compare
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

// joinSuggestions joins the suggestions of several inputs, similar names first.
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

// words returns the words of a name in lower case: at most 64 words of at most 32 bytes.
func words(name string) (out []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return r < 128 && (!label.IsWord(byte(r)) || r == '_') }) {
		if len(out) < 64 {
			out = append(out, w[:min(32, len(w))])
		}
	}
	return out
}

// distance returns the edit distance of a and b, in letters. If a is a prefix of b, it is at most 1.
func distance(a, b string) int {
	if strings.HasPrefix(b, a) {
		return min(1, len(b)-len(a))
	}
	return label.Edits(a, b)
}
