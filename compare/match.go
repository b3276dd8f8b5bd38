package compare

import "slices"

// A pair has kernels of both sides that are considered the same, or kernels of one side without a
// match.
type pair struct {
	match     string
	base, new []*kernel // the one with the most time first
}

// matchKernels finds the match of each kernel: first by name, then by canonical name, then by
// operator and position. A canonical name may have several kernels on a side, because autotuning
// picks one for each shape.
func matchKernels(base, new *facts) []pair {
	var pairs []pair
	var restBase, restNew []*kernel
	for _, k := range base.sortedKernels() {
		if n := new.kernels[kernelKey{k.name, k.class}]; n != nil {
			pairs = append(pairs, pair{ByName, []*kernel{k}, []*kernel{n}})
		} else {
			restBase = append(restBase, k)
		}
	}
	for _, k := range new.sortedKernels() {
		if base.kernels[kernelKey{k.name, k.class}] == nil {
			restNew = append(restNew, k)
		}
	}
	byForm := func(k *kernel) kernelKey { return kernelKey{canonical(k.name), k.class} }
	found, restBase, restNew := grouped(restBase, restNew, byForm)
	for _, f := range found {
		pairs = append(pairs, pair{ByCanonical, f[0], f[1]})
	}
	byOp := func(k *kernel) kernelKey { return kernelKey{k.op(), k.class + "\x00" + k.category} }
	found, restBase, restNew = grouped(restBase, restNew, byOp)
	for _, f := range found {
		placed, b, n := inPlace(f[0], f[1], base.n, new.n)
		pairs = append(pairs, placed...)
		restBase, restNew = append(restBase, b...), append(restNew, n...)
	}
	for _, k := range restBase {
		pairs = append(pairs, pair{OnlyBase, []*kernel{k}, nil})
	}
	for _, k := range restNew {
		pairs = append(pairs, pair{OnlyNew, nil, []*kernel{k}})
	}
	return pairs
}

// grouped returns the kernels of both sides that have the same key, in the order of the base, and
// those without a match.
func grouped(base, new []*kernel, key func(*kernel) kernelKey) (found [][2][]*kernel, restBase, restNew []*kernel) {
	by := map[kernelKey][]*kernel{}
	for _, k := range new {
		by[key(k)] = append(by[key(k)], k)
	}
	index := map[kernelKey]int{}
	for _, k := range base {
		id := key(k)
		if len(by[id]) == 0 {
			restBase = append(restBase, k)
			continue
		}
		i, ok := index[id]
		if !ok {
			i = len(found)
			index[id] = i
			found = append(found, [2][]*kernel{1: by[id]})
		}
		found[i][0] = append(found[i][0], k)
	}
	for _, k := range new {
		if _, ok := index[key(k)]; !ok {
			restNew = append(restNew, k)
		}
	}
	return found, restBase, restNew
}

// inPlace pairs kernels that the same operator launched: first those with equal numbers of runs per
// step, then, if the numbers differ by at most a factor of two, the ones with the most time.
// Kernels with an unknown operator are not paired.
func inPlace(base, new []*kernel, baseN, newN int64) (pairs []pair, restBase, restNew []*kernel) {
	if base[0].op() == "" {
		return nil, base, new
	}
	// The cost is quadratic, and a file can contain any number of kernels.
	restBase, restNew = base[min(maxPlaces, len(base)):], new[min(maxPlaces, len(new)):]
	base, new = base[:len(base)-len(restBase)], new[:len(new)-len(restNew)]
	taken := map[*kernel]bool{}
	take := func(fits func(b, n *kernel) bool) {
		for _, b := range base {
			i := slices.IndexFunc(new, func(n *kernel) bool { return !taken[n] && !taken[b] && fits(b, n) })
			if i >= 0 {
				taken[b], taken[new[i]] = true, true
				pairs = append(pairs, pair{ByPlace, []*kernel{b}, []*kernel{new[i]}})
			}
		}
	}
	rate := func(b, n *kernel) float64 {
		return float64(b.count) * float64(newN) / (float64(n.count) * float64(baseN))
	}
	take(func(b, n *kernel) bool { return rate(b, n) == 1 })
	take(func(b, n *kernel) bool { return rate(b, n) >= 0.5 && rate(b, n) <= 2 })
	free := func(list []*kernel) []*kernel {
		return slices.DeleteFunc(slices.Clone(list), func(k *kernel) bool { return taken[k] })
	}
	return pairs, append(free(base), restBase...), append(free(new), restNew...)
}

// maxPlaces is the maximum number of kernels of one operator that are paired in this way.
const maxPlaces = 256

// row returns the row for a pair, with its names.
func (p *pair) row() Row {
	of := p.new
	if len(of) == 0 {
		of = p.base
	}
	r := Row{Name: of[0].name, Match: p.match, Class: of[0].class, Category: of[0].category, Op: of[0].op()}
	if p.match == ByCanonical || p.match == ByPlace {
		for _, k := range p.base {
			r.Was = append(r.Was, k.name)
		}
		for _, k := range p.new[1:] {
			r.Also = append(r.Also, k.name)
		}
	}
	return r
}

func (p *pair) sum(list []*kernel) (a amount) {
	for _, k := range list {
		a.add(k.count, k.ns)
	}
	return a
}

// under returns the sum over the work that one operator launched.
func (p *pair) under(list []*kernel, op string) (a amount) {
	for _, k := range list {
		a.add(k.ops[op].count, k.ops[op].ns)
	}
	return a
}
