package layers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A content is what layers have in common that do the same.
type content struct {
	core    int32
	role    role
	back    bool
	experts bool
	cross   bool // attends to tokens of another sequence too
	cached  bool // writes or reads a cache of keys and values, as decoders do
}

// A group is all layers of one kind.
type group struct {
	content
	typical []kernel
	hash    map[uint64]float64 // similarity to typical, by the hash of a layer
	count   int
	kind    string
}

// A member is a layer with its group.
type member struct {
	layer
	group      *group
	similarity float64
	step       int32
	pass       string
	next       bool // the next layer of the list follows without a gap
}

// isMixed reports whether the typical layer of a forward pass has kernels of a backward pass: both run at the same time on the stream,
// so the order of kernels is not that of a layer.
func (g *group) isMixed() bool {
	n := 0
	for i := range g.typical {
		if g.typical[i].back {
			n++
		}
	}
	return !g.back && n > 1
}

// alike is the least similarity of the layers of a kind.
const alike = 0.5

// certain is the least similarity of the layers of a model on average.
const certain = 0.75

// groupsOf sorts layers by their content. Layers that are like no others are not returned, nor are those of a model that does not
// repeat.
func (r *measurer) groupsOf(list []layer) (out []member) {
	list = r.runs(list)
	var groups []*group
	index := make(map[content][]*group)
	hashes, counts := make([]uint64, len(list)), make(map[uint64]int)
	for i, l := range list {
		hashes[i] = hashOf(r.kernelsOf(l))
		counts[hashes[i]]++
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return counts[hashes[b]] - counts[hashes[a]] })
	of := make(map[int]*group) // by the start of a layer
	for _, i := range order {  // the most frequent first: they are the typical ones
		l := list[i]
		c, kernels := r.contentOf(l), r.kernelsOf(l)
		g, _ := nearest(index[c], kernels, hashes[i])
		if g == nil {
			g = &group{content: c, typical: kernels, hash: make(map[uint64]float64)}
			groups, index[c] = append(groups, g), append(index[c], g)
		}
		g.count++
		of[l.from] = g
	}
	byRoles := mergeRare(groups, of, list)
	for i, l := range list {
		if g := of[l.from]; g != nil {
			m := member{layer: l, group: g, similarity: g.similarity(r.kernelsOf(l), hashes[i]), step: r.stepOf(l)}
			if byRoles[l.from] {
				m.similarity = similarity(ofRoles(g.typical), ofRoles(r.kernelsOf(l)))
			}
			out = append(out, m)
		}
	}
	return r.repeated(out)
}

func (r *measurer) stepOf(l layer) int32 { return r.sequence.steps[r.list[l.from].work] }

// runs returns the layers that follow another one, or are followed by one: a model that repeats has several.
func (r *measurer) runs(list []layer) (out []layer) {
	for i, l := range list {
		if l.follows || i+1 < len(list) && list[i+1].follows {
			out = append(out, l)
		}
	}
	return out
}

// similarity returns how much a layer is like the typical one, given its hash.
func (g *group) similarity(list []kernel, hash uint64) float64 {
	s, ok := g.hash[hash]
	if !ok {
		s = similarity(g.typical, list)
		g.hash[hash] = s
	}
	return s
}

func nearest(groups []*group, list []kernel, hash uint64) (best *group, most float64) {
	for _, g := range groups {
		if s := g.similarity(list, hash); s >= alike && s > most {
			best, most = g, s
		}
	}
	return best, most
}

// mergeRare gives layers of groups that are too small to be a kind to the group that is most like them: a library may
// choose another kernel in one layer. A compiler chooses several in the first and the last one, which it fuses with what is around
// them: there what the kernels do has to agree. It returns the starts of the layers that were merged so.
func mergeRare(groups []*group, of map[int]*group, list []layer) map[int]bool {
	rare := func(g *group) bool { return g.count < fewest || 12*g.count < len(list) }
	inner := make(map[*group]bool) // has layers between others
	for i, l := range list {
		if g := of[l.from]; g != nil && l.follows && i+1 < len(list) && list[i+1].follows {
			inner[g] = true
		}
	}
	to, byRoles := make(map[*group]*group), make(map[*group]bool)
	for _, g := range groups {
		most := 0.0
		for _, other := range groups {
			if !rare(g) || rare(other) || other.role != g.role || other.back != g.back || other.experts != g.experts || other.cross != g.cross {
				continue
			}
			if s := similarity(g.typical, other.typical); s >= alike && s > most {
				to[g], most = other, s
			}
		}
		for _, other := range groups {
			if to[g] == nil && g.role != plain && !inner[g] && inner[other] && other.content == g.content && similarity(ofRoles(g.typical), ofRoles(other.typical)) >= certain {
				to[g], byRoles[g] = other, true
			}
		}
	}
	merged := make(map[int]bool)
	for from, g := range of {
		if other := to[g]; other != nil {
			other.count++
			of[from] = other
			merged[from] = byRoles[g]
		}
	}
	return merged
}

// ofRoles returns kernels that are equal if they do the same.
func ofRoles(list []kernel) []kernel {
	out := make([]kernel, len(list))
	for i := range list {
		out[i].token = int32(list[i].role)
	}
	return out
}

// repeated returns the layers of kinds that repeat. A kind may be rare, as the first dense layers of a mixture of experts, if it
// is next to layers of another kind.
func (r *measurer) repeated(list []member) (out []member) {
	counts := make(map[*group]map[int32]int)
	steps := make(map[int32]bool)
	for i := range list {
		m := &list[i]
		m.next = i+1 < len(list) && list[i+1].follows && list[i+1].from == m.to
		if counts[m.group] == nil {
			counts[m.group] = make(map[int32]int)
		}
		counts[m.group][m.step]++
		steps[m.step] = true
	}
	typical := make(map[*group]bool) // repeats in a step
	for g, of := range counts {
		for _, n := range of {
			typical[g] = typical[g] || n >= fewest
		}
	}
	for g := range typical {
		if typical[g] && g.isMixed() {
			r.mixed = true
			return nil
		}
	}
	n, sum := 0, 0.0
	for i := range list {
		if m := &list[i]; typical[m.group] {
			n++
			sum += m.similarity
		}
	}
	cores := 0
	for i := range r.cores {
		if steps[r.sequence.steps[r.list[r.cores[i].from].work]] {
			cores++
		}
	}
	// Other orders of the same kernels have a few layers that are alike by chance.
	if n == 0 || sum < certain*float64(n) || 5*n < 3*cores {
		return nil
	}
	for i, m := range list {
		beside := i > 0 && list[i-1].next && typical[list[i-1].group] || m.next && typical[list[i+1].group] ||
			i > 1 && list[i-1].next && list[i-2].next || i+2 < len(list) && m.next && list[i+1].next
		if (typical[m.group] || beside) && hasProduct(r.kernelsOf(m.layer)) {
			out = append(out, m)
		}
	}
	return out
}

func (r *measurer) kernelsOf(l layer) []kernel { return r.list[l.from:l.to] }

func (r *measurer) contentOf(l layer) content {
	core := l.core
	c := content{core: core.kind, role: core.role, back: core.back}
	at := -1
	for i := l.from; i < l.to; i++ {
		k := &r.list[i]
		switch {
		case k.role == experts:
			c.experts = true
		case k.role == attends && i >= core.from && i < core.to:
			if at >= 0 && i > at+1 && slices.ContainsFunc(r.list[at:i], func(k kernel) bool { return k.role == norm }) {
				c.cross = true
			}
			at = i
		}
		c.cached = c.cached || k.caches
	}
	return c
}

// name gives kinds their names: by what the layers have, and with a number if several kinds have the same.
func (r *measurer) name(list []member) {
	cross, scan, self := false, false, false
	for i := range list {
		self = self || !list[i].group.cross
		cross = cross || list[i].group.cross
		scan = scan || list[i].group.role == scans
	}
	byBase := make(map[string][]*group)
	var bases []string
	named := make(map[*group]bool)
	for i := range list {
		g := list[i].group
		if named[g] {
			continue
		}
		named[g] = true
		base := g.base(cross, scan, self, list[i].hint, r.Timeline.Trace.Name(r.activity(&r.list[list[i].core.from]).Name))
		key := base + fmt.Sprint(g.back)
		if byBase[key] == nil {
			bases = append(bases, key)
		}
		byBase[key] = append(byBase[key], g)
		g.kind = base
	}
	for _, key := range bases {
		groups := slices.Clone(byBase[key])
		slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(b.count, a.count) })
		for i, g := range groups {
			if i > 0 {
				g.kind = fmt.Sprintf("%s-%d", g.kind, i+1)
			}
		}
	}
}

// base returns the name of a kind by what is in its layers.
func (g *group) base(cross, scan, self bool, module, core string) string {
	module = strings.ToLower(module)
	switch {
	case g.experts:
		return "moe-layer"
	case g.role == scans && containsAny(strings.ToLower(core), "mamba", "ssm", "ssd", "selective", "causal_conv", "chunk_scan", "chunk_state"):
		return "mamba-layer"
	case g.role == scans:
		return "linear-attention-layer"
	case strings.Contains(module, "encoder") && !strings.Contains(module, "decoder"):
		return "encoder"
	case strings.Contains(module, "decoder") && !scan || g.cross && g.cached:
		return "decoder"
	case g.cross && self:
		return "decoder"
	case g.cross:
		return "cross-attention-layer"
	case cross:
		return "encoder"
	case scan:
		return "attention-layer"
	case g.cached:
		return "decoder"
	case g.role == attends || g.role == softmax:
		return "attention-layer"
	}
	return "layer"
}
