package health

import (
	"slices"
	"strings"
)

// isInactive reports whether a link is inactive.
func isInactive(v *value) bool { return strings.HasPrefix(strings.ToLower(v.last()), "<inactive>") }

// inactive returns the NVLinks that are inactive where those of other GPUs, or most of this GPU, are not. GPUs without
// bridges, or with some, are built so: they are no exception.
func (m *machine) inactive(p *property, values []*value) (out []fault) {
	type gpu struct{ active, all int }
	gpus := map[string]*gpu{}
	key := func(v *value) string { return v.node + "\x00" + v.part[:max(0, strings.Index(v.part, " link "))] }
	for _, v := range values {
		g := gpus[key(v)]
		if g == nil {
			g = &gpu{}
			gpus[key(v)] = g
		}
		if g.all++; !isInactive(v) {
			g.active++
		}
	}
	counts := map[gpu]int{} // GPUs with as many links, of which as many are active
	for _, g := range gpus {
		counts[*g]++
	}
	link := func(v *value) string { return v.part[strings.LastIndexByte(v.part, ' ')+1:] }
	active := map[string]int{} // GPUs whose link of this number is active
	for _, v := range values {
		if !isInactive(v) {
			active[link(v)]++
		}
	}
	for _, v := range values {
		g := gpus[key(v)]
		more, equal := 0, 0
		for o, n := range counts {
			if o.all == g.all {
				equal += n
			}
			if o.all == g.all && o.active > g.active {
				more += n
			}
		}
		// Links of a pair without a bridge are inactive on both of its GPUs.
		few := equal-more == 1 || 4*more >= 3*equal && g.active > 0
		if isInactive(v) && (2*g.active > g.all || more > 1 && few && active[link(v)] > 1) {
			out = append(out, fault{v, p, v.last(), ""})
		}
	}
	return out
}

// down returns the ports that are down. One that is disabled, or of a kind of which most are down, is not in use.
func (m *machine) down(p *property, values []*value) (out []fault) {
	up, all := map[string]int{}, map[string]int{}
	isUp := func(v *value) bool { return slices.Contains([]string{"Active", "LinkUp"}, v.last()) }
	for _, v := range values {
		if all[m.class(v)]++; isUp(v) {
			up[m.class(v)]++
		}
	}
	for _, v := range values {
		physical := m.of(v.node, v.part, "ib.physical")
		disabled := physical != nil && physical.last() == "Disabled"
		most := 2*up[m.class(v)] >= all[m.class(v)] || len(values) == 1
		if !isUp(v) && !disabled && most {
			out = append(out, fault{v, p, v.last(), ""})
		}
	}
	return out
}

// designed removes connections that are slower by design: those that each GPU of a node has.
func (m *machine) designed(list []fault) []fault {
	return slices.DeleteFunc(list, func(f fault) bool {
		if f.value.property != "topo.pair" {
			return false
		}
		gpus, odd := map[string]bool{}, map[string]bool{}
		for _, v := range m.values {
			if v.property != "topo.pair" || v.node != f.node {
				continue
			}
			a, b, _ := strings.Cut(v.part, " - ")
			gpus[a], gpus[b] = true, true
			if better(f.other, v.last()) {
				odd[a], odd[b] = true, true
			}
		}
		return len(odd) == len(gpus)
	})
}
