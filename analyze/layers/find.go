package layers

import (
	"maps"
	"slices"
)

// A core is what there is one of in each layer: attention, or what takes its place. Between two cores are the end of one layer and the
// beginning of the next.
type core struct {
	from, to int // kernels
	kind     int32
	role     role
	back     bool
	follows  bool // no model ends between the core before and this one
}

// A finder finds the layers of a sequence. It learns from the whole sequence what comes before and after each kind of
// core in its layer, so the boundaries are the same in all steps.
type finder struct {
	list  []kernel
	cores []core
	kinds map[uint64]int32

	boundaries int  // that were learnt
	alternates bool // kernels of two runs through the model take turns on one stream

	classes []class
	heads   map[int32][]kernel   // by kind of core: from the start of the layer to the core
	tails   map[int32][][]kernel // the same from the core to the end; a layer may end in several ways
}

// A class is all gaps between cores of two kinds that have the same kernels.
type class struct {
	left, right int32
	gap         []kernel
	count       int
	evidence    int
}

// A layer is a part of the sequence.
type layer struct {
	from, to int  // kernels
	core     core // without kernels, if nothing says where attention is
	follows  bool // the layer before it in the list is of the same run of the model
	hint     string
}

// longest is the largest number of kernels between two cores of neighboring layers.
const longest = 4000

func newFinder(list []kernel) *finder {
	return &finder{list: list, kinds: make(map[uint64]int32), heads: make(map[int32][]kernel), tails: make(map[int32][][]kernel)}
}

// find returns the layers in the order of time.
func (f *finder) find() []layer {
	for _, of := range []func(*kernel) bool{mixes, isSoftmax} {
		f.stopLookups(of)
		f.findCores(of)
		if len(f.cores) >= fewest {
			break
		}
	}
	if len(f.cores) < fewest {
		f.cores = nil
	}
	f.joinCores()
	out := f.layers()
	if f.anchor(out) {
		out = f.layers()
	}
	if f.alternates = f.takeTurns(out); f.alternates {
		return nil
	}
	return out
}

// layers returns the layers around the cores.
func (f *finder) layers() []layer {
	f.classes, f.boundaries = nil, 0
	clear(f.heads)
	clear(f.tails)
	f.classify()
	f.learn()
	return f.cut()
}

// fewest is the smallest number of layers that are layers.
const fewest = 3

func mixes(k *kernel) bool     { return k.role == attends || k.role == scans }
func isSoftmax(k *kernel) bool { return k.role == softmax }

// stopLookups decides whether look-ups in tables of embeddings are the start of a model. They are not if most layers have one.
func (f *finder) stopLookups(is func(*kernel) bool) {
	if !slices.ContainsFunc(f.list, func(k kernel) bool { return k.looksUp }) {
		return
	}
	gaps, with, found := 0, 0, false
	any := false
	for i := range f.list {
		switch k := &f.list[i]; {
		case k.first || k.role == stop && !k.looksUp:
			any, found = false, false
		case k.looksUp:
			found = true
		case is(k):
			if any && i > 0 && !is(&f.list[i-1]) {
				gaps++
				if found {
					with++
				}
			}
			any, found = true, false
		}
	}
	for i := range f.list {
		if k := &f.list[i]; k.looksUp && 2*with > gaps {
			k.role = plain
		}
	}
}

// findCores lists the kernels for which is is true; several of them without a norm or a product between them are one core.
func (f *finder) findCores(is func(*kernel) bool) {
	f.cores = f.cores[:0]
	const near = 8
	follows := false
	for i := 0; i < len(f.list); i++ {
		k := &f.list[i]
		if k.first || k.role == stop {
			follows = false
		}
		if !is(k) {
			continue
		}
		c := core{from: i, to: i + 1, role: k.role, back: k.back, follows: follows}
		h := uint64(uint32(k.token)) + 0x9e3779b97f4a7c15
		for next := i + 1; next < len(f.list) && next-c.to < near; next++ {
			n := &f.list[next]
			if n.first || n.role == stop || n.role == norm || n.role == product && c.role != scans || n.back != c.back && is(n) {
				break
			}
			if is(n) && n.role == c.role {
				c.to = next + 1
				h = (h ^ uint64(uint32(n.token))) * 0x100000001b3
			}
		}
		c.kind = f.kindOf(h)
		f.cores = append(f.cores, c)
		i, follows = c.to-1, true
	}
}

func (f *finder) kindOf(h uint64) int32 {
	id, ok := f.kinds[h]
	if !ok {
		id = int32(len(f.kinds))
		f.kinds[h] = id
	}
	return id
}

// gap returns the kernels between core i and the next one.
func (f *finder) gap(i int) []kernel { return f.list[f.cores[i].to:f.cores[i+1].from] }

// joinCores makes one core of those of a layer that has several: one that attends to its own tokens and then to those of an encoder, one
// that attends and scans side by side, and one that computes attention again for its backward pass.
func (f *finder) joinCores() {
	type pair struct{ left, right int32 }
	all, inner := make(map[pair]int), make(map[pair]int)
	join := make([]bool, len(f.cores)) // with the next core
	for i := range len(f.cores) - 1 {
		c, n := &f.cores[i], &f.cores[i+1]
		if !n.follows {
			continue
		}
		alike, p := n.role == c.role && n.back == c.back, pair{c.kind, n.kind}
		all[p]++
		if join[i] = alike && f.isInner(i) || !alike && f.isBeside(f.gap(i)); join[i] {
			inner[p]++
		}
	}
	out := f.cores[:0]
	for i := 0; i < len(f.cores); i++ {
		c := f.cores[i]
		if i+1 < len(f.cores) && join[i] {
			n := f.cores[i+1]
			// A single gap without a feed-forward network may be a layer with another kernel.
			if p := (pair{c.kind, n.kind}); inner[p] >= 2 && 3*inner[p] >= all[p] {
				c.kind = f.kindOf(uint64(c.kind)<<32 | uint64(n.kind) | 1<<63)
				c.to, c.back = n.to, c.back || n.back
				i++
			}
		}
		out = append(out, c)
	}
	f.cores = out
}

// isBeside reports whether two cores with a gap between them are in one layer, because nothing is between them that ends one.
func (f *finder) isBeside(gap []kernel) bool {
	const near = 8
	for i := range gap {
		switch gap[i].role {
		case norm, product, experts, activate, adds:
			return false
		}
	}
	return len(gap) <= near
}

// isInner reports whether the gap between core i and the next one has nothing but the projections of two attentions,
// with the norms between them, while the gaps before and after it have a feed-forward network.
func (f *finder) isInner(i int) bool {
	norms, feeds := f.content(f.gap(i))
	differ := f.cores[i].kind != f.cores[i+1].kind
	if feeds || norms == 0 {
		return false
	} else if norms == 1 && differ {
		return true
	}
	beside := 0
	if i+2 < len(f.cores) && f.cores[i+2].follows {
		if _, feeds = f.content(f.gap(i + 1)); !feeds {
			return false
		}
		beside++
	}
	if i > 0 && f.cores[i].follows {
		if _, feeds = f.content(f.gap(i - 1)); !feeds {
			return false
		}
		beside++
	}
	return beside > 0
}

// content returns the number of norms of a gap, and whether it has a feed-forward network for certain.
func (f *finder) content(gap []kernel) (norms int, feeds bool) {
	for i := range gap {
		switch gap[i].role {
		case activate, experts, convolve:
			feeds = true
		case norm:
			if i == 0 || gap[i-1].role != norm {
				norms++
			}
		}
	}
	return norms, feeds
}

// classify counts the gaps between cores by their kernels.
func (f *finder) classify() {
	type key struct {
		left, right int32
		hash        uint64
	}
	index := make(map[key]int)
	for i := range len(f.cores) - 1 {
		if !f.cores[i+1].follows || len(f.gap(i)) > longest {
			continue
		}
		k := key{f.cores[i].kind, f.cores[i+1].kind, hashOf(f.gap(i))}
		at, ok := index[k]
		if !ok {
			at = len(f.classes)
			index[k] = at
			f.classes = append(f.classes, class{left: k.left, right: k.right, gap: f.gap(i)})
		}
		f.classes[at].count++
	}
}

// learn finds what comes before and after the cores of each kind, from gaps that occur several times: first those whose boundary shows
// at the beginning and at the end of a model.
func (f *finder) learn() {
	begins, ends := make(map[int32]bool), make(map[int32]bool)
	for i, c := range f.cores {
		if !c.follows {
			begins[c.kind] = true
		}
		if i+1 == len(f.cores) || !f.cores[i+1].follows {
			ends[c.kind] = true
		}
	}
	order := make([]int, 0, len(f.classes))
	for i := range f.classes {
		c := &f.classes[i]
		if begins[c.right] {
			c.evidence++
		}
		if ends[c.left] {
			c.evidence++
		}
		if c.count >= 2 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return f.rank(&f.classes[y]) - f.rank(&f.classes[x]) })
	for _, i := range order {
		f.learnFrom(&f.classes[i])
	}
	f.learnMore()
}

// learnMore learns about cores without a gap that occurs twice: from gaps that are alike, and from single ones.
func (f *finder) learnMore() {
	const most = 64 // classes that are compared
	best, shared := make(map[int32]*class), make(map[int32]int)
	for i := range min(most, len(f.classes)) {
		c := &f.classes[i]
		for k := range min(most, len(f.classes)) {
			o := &f.classes[k]
			if k == i || f.heads[c.right] != nil || c.left != o.left || c.right != o.right || similarity(c.gap, o.gap) < alike {
				continue
			}
			// Of gaps that are alike, the one that has most in common with the first and the last layer is as most layers are.
			n := len(c.gap) - f.low(c).at + f.high(c).at
			if best[c.right] == nil || n > shared[c.right] {
				best[c.right], shared[c.right] = c, n
			}
			break
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(best)) {
		f.learnFrom(best[kind])
	}
	for i := range f.classes {
		c := &f.classes[i]
		if head, ok := f.heads[c.right]; ok && f.tails[c.left] == nil && endsWith(c.gap, head) {
			f.addTail(c.left, c.gap[:len(c.gap)-len(head)])
		}
	}
}

// rank says which classes to learn from first.
func (f *finder) rank(c *class) int {
	r := c.count + c.evidence<<24
	if c.left == c.right {
		r += 1 << 30
	}
	return r
}

func (f *finder) learnFrom(c *class) {
	if head, ok := f.heads[c.right]; ok && endsWith(c.gap, head) {
		if tail := c.gap[:len(c.gap)-len(head)]; f.longestTail(c.left, tail) < 0 { // else something runs between two models
			f.addTail(c.left, tail)
		}
		return
	} else if ok {
		return
	}
	if n := f.longestTail(c.left, c.gap); n >= 0 {
		f.heads[c.right] = c.gap[n:]
		return
	}
	const most = 64 // kinds of cores; a boundary is a walk over all of them
	if f.boundaries++; f.boundaries > most {
		return
	}
	b := f.boundary(c)
	f.heads[c.right] = c.gap[b:]
	f.addTail(c.left, c.gap[:b])
}

func (f *finder) addTail(kind int32, tail []kernel) {
	const most = 16
	for _, t := range f.tails[kind] {
		if len(t) == len(tail) && startsWith(t, tail) {
			return
		}
	}
	if len(f.tails[kind]) < most {
		f.tails[kind] = append(f.tails[kind], tail)
	}
}

// longestTail returns the length of the longest tail of a kind that a list begins with, or -1.
func (f *finder) longestTail(kind int32, list []kernel) int {
	n := -1
	for _, t := range f.tails[kind] {
		if len(t) > n && startsWith(list, t) {
			n = len(t)
		}
	}
	return n
}

// cut returns the layers: each core with what comes before and after it.
func (f *finder) cut() (out []layer) {
	starts, ends := make([]int, len(f.cores)), make([]int, len(f.cores))
	for i := range f.cores {
		c := &f.cores[i]
		if !c.follows || i == 0 {
			from := f.limit(i)
			starts[i] = f.startIn(c.kind, from, c.from)
		}
		if i+1 == len(f.cores) || !f.cores[i+1].follows {
			ends[i] = f.endIn(c.kind, c.to, f.end(i))
			continue
		}
		ends[i], starts[i+1] = f.divide(i)
	}
	last := -1
	for i, c := range f.cores {
		if starts[i] >= 0 && ends[i] >= c.to {
			out = append(out, layer{from: starts[i], to: ends[i], core: c, follows: c.follows && i > 0 && last == i-1 &&
				!hasProduct(f.list[ends[i-1]:starts[i]])}) // else the end and the start of a model are between them
			last = i
		}
	}
	return out
}

// divide returns the end of the layer of core i and the start of the next one.
func (f *finder) divide(i int) (end, start int) {
	left, right := f.cores[i], f.cores[i+1]
	gap := f.gap(i)
	head, known := f.heads[right.kind]
	n := f.longestTail(left.kind, gap)
	switch {
	case known && endsWith(gap, head):
		start = right.from - len(head)
		if end = start; n >= 0 && left.to+n <= start {
			end = left.to + n
		}
		return end, start
	case n >= 0 && !known:
		return left.to + n, -1
	case n >= 0 && n < len(gap) && len(head) > 0 && same(&gap[n], &head[0]):
		return left.to + n, left.to + n
	case n >= 0:
		end = left.to + n
		return end, f.startIn(right.kind, end, right.from)
	}
	start = f.startIn(right.kind, left.to, right.from)
	if start < 0 {
		return f.endIn(left.kind, left.to, right.from), -1
	}
	if _, ok := f.tails[left.kind]; !ok && f.heads[left.kind] == nil {
		return -1, start
	}
	return start, start
}

// limit returns the first kernel before core i that may belong to its layer, if a model begins with it.
func (f *finder) limit(i int) int {
	at, least := f.cores[i].from, 0
	if i > 0 {
		least = f.cores[i-1].to
	}
	for at > least && !f.list[at].first && f.list[at-1].role != stop {
		at--
	}
	return at
}

// end returns the end of the kernels behind core i that may belong to its layer, if a model ends with it.
func (f *finder) end(i int) int {
	at, most := f.cores[i].to, len(f.list)
	if i+1 < len(f.cores) {
		most = f.cores[i+1].from
	}
	for at < most && !f.list[at].first && f.list[at].role != stop {
		at++
	}
	return at
}

// startIn returns the start of a layer whose core begins at to, or -1.
func (f *finder) startIn(kind int32, from, to int) int {
	head, ok := f.heads[kind]
	if !ok {
		return -1
	}
	if n := fit(reversed(head), reversed(f.list[max(from, to-len(head)-slack):to])); n >= 0 {
		return to - n
	}
	return -1
}

// endIn returns the end of a layer whose core ends at from, or -1.
func (f *finder) endIn(kind int32, from, to int) int {
	list := f.list[from:to]
	if n := f.longestTail(kind, list); n >= 0 {
		return from + n
	}
	for _, t := range f.tails[kind] {
		if n := fit(t, list[:min(len(list), len(t)+slack)]); n >= 0 {
			return from + n
		}
	}
	return -1
}
