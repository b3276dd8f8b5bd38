package finding

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/internal/unit"
)

// Worst returns the index of the largest of n shares num/den, or the first one if several are
// equal. A denominator below 1 counts as 1.
func Worst(n int, at func(int) (num, den int64)) int {
	best, most := 0, -1.0
	for i := range n {
		num, den := at(i)
		if share := float64(num) / float64(max(1, den)); share > most {
			best, most = i, share
		}
	}
	return best
}

// ByWork returns the keys ordered by falling work, then by name.
func ByWork(work map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(work), func(a, b string) int {
		return cmp.Or(cmp.Compare(work[b], work[a]), cmp.Compare(a, b))
	})
}

// Longest returns the [MostPlaces] places with the most time. Ties are broken by all fields, so the
// order of the argument does not matter.
func Longest(out []Place) []Place {
	value := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return *p
	}
	slices.SortStableFunc(out, func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Input, b.Input), cmp.Compare(a.Rank, b.Rank),
			cmp.Compare(value(a.Device), value(b.Device)), cmp.Compare(value(a.StartNS), value(b.StartNS)),
			cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Copy, b.Copy))
	})
	return out[:min(MostPlaces, len(out))]
}

// Upper replaces a lower-case ASCII letter at the beginning of s by its capital, unless the first word is a name with
// capitals in it, such as "vLLM" or "nodeA".
func Upper(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if s != "" && s[0] >= 'a' && s[0] <= 'z' && first == strings.ToLower(first) {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// Short cuts extremely long names, which C++ templates produce, for titles. The limit is generous
// because reports shorten names further, and need most of a name to do it well.
func Short(name string) string {
	const most = 400
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// Launches prints a number of launches.
func Launches(n int64) string {
	if n == 1 {
		return "1 launch"
	}
	return unit.Count(n) + " launches"
}
