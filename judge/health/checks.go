package health

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
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
			out = append(out, fault{v, p, now, other})
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
		for _, text := range v.texts {
			if !healthy(text, p.list) {
				return text, "", true
			}
		}
	case "below":
		of := m.text(v.node, v.part, p.list)
		a, okA := number(v.last())
		b, okB := number(of)
		return strings.TrimSuffix(v.last(), "x"), strings.TrimSuffix(of, "x"), okA && okB && a < 0.99*b
	case "grows":
		last, growth, ok := v.growth()
		var by, single float64
		var never string
		fmt.Sscanf(p.list, "%g %s", &by, &never)
		_, err := fmt.Sscan(never, &single)
		switch {
		case ok && len(v.texts) > 1 && growth > by:
			return unit.Count(int64(growth)), "", true
		case ok && len(v.texts) == 1 && err == nil && last > single:
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

// boards are models of GPUs whose NVLinks the board connects, so that all of them should be up.
var boards = lazyregexp.New(`SXM|HBM3|\b[BH][23]00$|\bGB\d00`)

// down returns the parts that are down although most equal parts are up: the other links of the GPU, the same link of
// other GPUs, the port of this name on other nodes, the other ports of the node.
func (m *machine) down(p *property, values []*value) (out []fault) {
	type peers struct{ all, up int }
	groups := map[string]*peers{}
	names := func(v *value) map[string]int { // groups of peers, and how many others they need
		if gpu, link, ok := strings.Cut(v.part, " link "); ok {
			return map[string]int{v.node + "\x00" + gpu: 2, "link " + link + m.class(v): 3}
		}
		return map[string]int{v.part + "\x00" + m.class(v): 1, v.node + "\x00" + m.class(v): 3}
	}
	for _, v := range values {
		for name := range names(v) {
			if groups[name] == nil {
				groups[name] = &peers{}
			}
			groups[name].all++
			if healthy(v.last(), p.list) {
				groups[name].up++
			}
		}
	}
	for _, v := range values {
		if healthy(v.last(), p.list) {
			continue
		}
		gpu, _, isLink := strings.Cut(v.part, " link ")
		bad := isLink && boards().MatchString(m.text(v.node, gpu, "gpu.model"))
		for name, least := range names(v) {
			others := groups[name].all - 1
			bad = bad || others >= least && 4*groups[name].up >= 3*others
		}
		if bad {
			out = append(out, fault{v, p, v.last(), ""})
		}
	}
	return out
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
		for _, v := range odd {
			if p.list == "" || !m.designed(v, odd, list) {
				out = append(out, fault{v, p, v.last(), usual})
			}
		}
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
	rank := func(text string) int {
		return slices.IndexFunc(strings.Split(p.list, ","), func(one string) bool {
			prefix, star := strings.CutSuffix(one, "*")
			return one == text || star && strings.HasPrefix(text, prefix)
		})
	}
	return rank(text) > rank(usual)
}

// designed reports whether a connection that is worse than the usual one is so by design: another node has the same,
// or each GPU of the node has as many of them, and others.
func (m *machine) designed(v *value, odd, all []*value) bool {
	of := map[string]int{}
	mine, pairs := 0, 0
	for _, o := range odd {
		if o.node == v.node {
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
				_, of, _ := strings.Cut(v.last(), " ")
				out = append(out, fault{v, p, v.last(), strings.TrimSpace(fmt.Sprintf("%.0f %s", median, of))})
			}
		}
	}
	slices.SortFunc(out, func(a, b fault) int { return strings.Compare(a.node+a.part, b.node+b.part) })
	return out
}
