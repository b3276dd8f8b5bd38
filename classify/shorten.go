package classify

import "strconv"

// MinWidth is the least width that [Shorten] can keep to: room for a letter,
// an ellipsis and the number of one among a million names.
const MinWidth = 9

// Shorten returns the short names of kernels in at most width runes each, so
// that different kernels have different names and equal kernels equal ones.
// A width below [MinWidth] counts as MinWidth.
//
// Where short names are equal, PyTorch's kernels get their launch shape back.
// A name that is too long loses its middle to an ellipsis; where names would
// become equal by that, they lose what they have in common instead. Those that
// are still equal are numbered in the order of their first occurrence.
func Shorten(names []string, width int) []string {
	width = max(width, MinWidth)
	distinct := []string{}
	index := map[string]int{}
	for _, name := range names {
		if _, ok := index[name]; !ok {
			index[name] = len(distinct)
			distinct = append(distinct, name)
		}
	}
	short := shortenDistinct(distinct, width)
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = short[index[name]]
	}
	return out
}

// shortenDistinct is Shorten for names that all differ.
func shortenDistinct(names []string, width int) []string {
	runes := make([][]rune, len(names))
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = ShortName(name)
	}
	for _, group := range collisions(out) {
		for _, i := range group {
			out[i] = shortName(names[i], true)
		}
	}
	for i, name := range out {
		runes[i] = []rune(name)
		out[i] = elide(runes[i], width, (width-1)*2/3)
	}
	for _, group := range collisions(out) {
		// Keep the first place where they differ, near the start of the tail.
		common := commonPrefix(runes, group)
		for _, i := range group {
			out[i] = elideAt(runes[i], width, common)
		}
	}
	number(out, width)
	return out
}

// elide cuts the middle out of r, of which it keeps head runes at the front.
func elide(r []rune, width, head int) string {
	if len(r) <= width {
		return string(r)
	}
	tail := width - 1 - head
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// elideAt cuts r to width such that the rune at place is kept: some of the
// front, an ellipsis, what is at place, and an ellipsis if more follows.
func elideAt(r []rune, width, place int) string {
	head := (width - 1) / 3
	if len(r) <= width || place < width*2/3 {
		return elide(r, width, min(max(place+1, (width-1)*2/3), width-1))
	}
	from := max(place-2, head)
	if len(r)-from <= width-1-head {
		return elide(r, width, head)
	}
	return string(r[:head]) + "…" + string(r[from:from+width-head-2]) + "…"
}

// collisions returns the groups of indices with equal names, in order.
func collisions(names []string) [][]int {
	groups := map[string][]int{}
	for i, name := range names {
		groups[name] = append(groups[name], i)
	}
	var out [][]int
	for i, name := range names {
		if g := groups[name]; len(g) > 1 && g[0] == i {
			out = append(out, g)
		}
	}
	return out
}

// commonPrefix returns how many runes the names of a group share at the front.
func commonPrefix(runes [][]rune, group []int) int {
	n := len(runes[group[0]])
	for _, i := range group[1:] {
		n = min(n, len(runes[i]))
		for j := range n {
			if runes[i][j] != runes[group[0]][j] {
				n = j
				break
			}
		}
	}
	return n
}

// number makes the names distinct by ending those that are not with #2, #3...
// A name that is taken already, by a name that looks numbered, is passed over.
func number(names []string, width int) {
	taken := map[string]bool{}
	for _, name := range names {
		taken[name] = true
	}
	seen := map[string]int{}
	for i, name := range names {
		n := seen[name] + 1
		seen[name] = n
		if n == 1 {
			continue
		}
		for ; ; n++ {
			suffix := "#" + strconv.Itoa(n)
			r := []rune(name)
			if len(r)+len(suffix) > width {
				r = []rune(elide(r, width-len(suffix), width-len(suffix)-1))
			}
			if candidate := string(r) + suffix; !taken[candidate] {
				taken[candidate] = true
				names[i] = candidate
				seen[name] = n
				break
			}
		}
	}
}
