package health

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/stat"
	"assay/internal/unit"
)

// check returns the faults of the values of one property.
func (m *machine) check(p *property, values []*value) (out []fault) {
	switch p.kind {
	case "peers", "fewer":
		return m.peers(p, values)
	case "slower":
		return m.slower(p, values)
	case "down":
		return m.down(p, values)
	}
	for _, v := range values {
		if now, other, bad := m.isFault(p, v); bad {
			out = append(out, fault{value: v, property: p, now: now, other: other})
		}
	}
	return out
}

// isFault checks one value, without its peers.
func (m *machine) isFault(p *property, v *value) (now, other string, bad bool) {
	switch p.kind {
	case "any":
		return v.last(), "", true
	case "not":
		return v.last(), "", !healthy(v.last(), p.list)
	case "is":
		return v.last(), "", healthy(v.last(), p.list)
	case "missing": // a report of chosen GPUs has fewer
		of := m.text(v.node, v.part, p.list)
		a, _ := number(v.last())
		b, _ := number(of)
		return v.last(), of, a == b-1 && b >= 3
	case "over":
		n, ok := number(v.last())
		most, _ := number(p.list)
		return unit.Count(int64(n)), "", ok && n > most
	case "below":
		of := m.text(v.node, v.part, p.list)
		a, okA := number(v.last())
		b, okB := number(of)
		okA = okA && unitOf(v.last()) == unitOf(of)
		return strings.TrimSuffix(v.last(), "x"), strings.TrimSuffix(of, "x"), okA && okB && a < 0.99*b
	case "grows":
		last, growth, ok := v.growth()
		moments := len(v.texts)
		if m.mixed[[2]string{v.node, v.part}] {
			moments = 1 // others are of another port
		}
		var by, single float64
		var never string
		fmt.Sscanf(p.list, "%g %s", &by, &never)
		_, err := fmt.Sscan(never, &single)
		switch {
		case ok && moments > 1 && growth > by:
			return unit.Count(int64(growth)), "", true
		case ok && moments == 1 && err == nil && last > single:
			return unit.Count(int64(last)), "", true
		}
	}
	return "", "", false
}

// healthy reports whether a text is one of a list. A list behind "not" has what is no healthy text.
func healthy(text, list string) bool {
	list, not := strings.CutPrefix(list, "not ")
	return not != slices.ContainsFunc(strings.Split(list, ","), func(one string) bool {
		return strings.EqualFold(one, text) || strings.EqualFold(one, strings.ReplaceAll(text, " ", "_"))
	})
}

// better decides which of two values is the usual one where as many parts have either: the larger number.
func better(a, b string) bool {
	x, okX := number(a)
	y, okY := number(b)
	if okX && okY && x != y {
		return x > y
	}
	return a > b
}

// peers returns the values that differ from those of most equal parts. Of two parts, the one with the lower value is
// named.
func (m *machine) peers(p *property, values []*value) (out []fault) {
	classes := map[string][]*value{}
	for _, v := range values {
		if c := m.class(v); c != "" && !strings.HasPrefix(strings.ToLower(v.last()), "<inactive>") {
			if _, ok := number(v.last()); ok {
				c += " " + unitOf(v.last())
			}
			classes[c] = append(classes[c], v)
		}
	}
	var order []string
	for c := range classes {
		order = append(order, c)
	}
	slices.Sort(order)
	for _, c := range order {
		list := classes[c]
		counts := map[string]int{}
		for _, v := range list {
			counts[v.last()]++
		}
		usual := ""
		for text, n := range counts {
			if n > counts[usual] || n == counts[usual] && (usual == "" || better(text, usual)) {
				usual = text
			}
		}
		// Without a clear majority the parts are of several kinds, and none of them is odd.
		if len(counts) == 1 || len(list) > 2 && 4*counts[usual] < 3*len(list) {
			continue
		}
		odd := slices.DeleteFunc(slices.Clone(list), func(v *value) bool { return v.last() == usual || !p.worse(v.last(), usual) })
		var faults []fault
		for _, v := range odd {
			if p.list == "" || !m.designed(v, odd, list) {
				faults = append(faults, fault{value: v, property: p, now: v.last(), other: usual})
			}
		}
		if p.name == "topo.pair" {
			faults = ofOneGPU(faults, list)
		}
		out = append(out, faults...)
	}
	return out
}

// worse reports whether a value that differs from the usual one is a fault.
func (p *property) worse(text, usual string) bool {
	if p.kind == "fewer" {
		a, okA := number(text)
		b, okB := number(usual)
		return okA && okB && a < b && 2*a > b
	}
	if p.list == "" {
		return true
	}
	if p.list == "lower" {
		return better(usual, text)
	}
	rank := func(text string) int {
		return slices.IndexFunc(strings.Split(p.list, ","), func(one string) bool {
			prefix, star := strings.CutSuffix(one, "*")
			return one == text || star && strings.HasPrefix(text, prefix)
		})
	}
	if strings.HasPrefix(p.list, "NV") && rank(usual) > 0 {
		return false // PCIe is wired so; only links can go down
	}
	if rank(text) == 0 && rank(usual) == 0 {
		return better(usual[2:], text[2:])
	}
	return rank(text) > rank(usual)
}

// designed reports whether a connection that is worse than the usual one is so by design: another node has the same,
// each GPU of the node has as many of them, and others, or several ports of the node have this rate.
func (m *machine) designed(v *value, odd, all []*value) bool {
	of := map[string]int{}
	mine, pairs := 0, 0
	for _, o := range odd {
		if o.node == v.node {
			if o != v && o.last() == v.last() && strings.Contains(v.part, " port ") {
				return true
			}
			mine++
			for gpu := range strings.SplitSeq(o.part, " - ") {
				of[gpu]++
			}
		} else if o.part == v.part && o.last() == v.last() {
			return true
		}
	}
	gpus := map[string]bool{}
	for _, o := range all {
		if o.node == v.node {
			pairs++
			for gpu := range strings.SplitSeq(o.part, " - ") {
				gpus[gpu] = true
			}
		}
	}
	for gpu := range gpus {
		if of[gpu] != of[strings.Split(v.part, " - ")[0]] {
			return false
		}
	}
	return mine < pairs
}

// slower returns the parts with a number under nine tenths of the median of equal parts.
func (m *machine) slower(p *property, values []*value) (out []fault) {
	classes := map[string][]*value{}
	for _, v := range values {
		if m.class(v) != "" {
			classes[m.class(v)] = append(classes[m.class(v)], v)
		}
	}
	for _, list := range classes {
		var all []float64
		for _, v := range list {
			if n, ok := number(v.last()); ok {
				all = append(all, n)
			}
		}
		if len(all) < 3 || len(all) != len(list) {
			continue
		}
		median := stat.Median(slices.Clone(all))
		for i, v := range list {
			if all[i] < 0.9*median {
				other := fmt.Sprintf("%.0f %s", median, unitOf(v.last()))
				out = append(out, fault{value: v, property: p, now: v.last(), other: strings.TrimSpace(other)})
			}
		}
	}
	slices.SortFunc(out, func(a, b fault) int { return strings.Compare(a.node+a.part, b.node+b.part) })
	return out
}
