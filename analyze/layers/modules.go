package layers

import (
	"slices"
)

// Where modules were recorded, layers are the outermost modules of one class that one module has several of, each with several kernels.

// containers are classes of modules that only hold others.
var containers = map[string]bool{"Sequential": true, "ModuleList": true, "ModuleDict": true}

// siblings are the modules of one class in one module.
type siblings struct {
	class    string
	count    int
	products bool
}

// An instance is one module.
type instance struct {
	siblings *siblings
	outer    *instance         // the module that it is in, without containers; nil at the top
	tokens   [fewKernels]int32 // different kernels that it launched, plus 1
	inner    []*siblings       // the modules in it
	depth    int

	run    int      // through the model in which it was last seen
	passes []string // in which it ran in that run
}

// fewKernels is the number of different kernels of a layer; modules with fewer are parts of layers.
const fewKernels = 4

// The depth of modules within each other that are separate, and the number of their classes in one module.
const (
	deepest     = 64
	mostClasses = 256
)

// note notes a kernel of the module.
func (in *instance) note(token int32, product bool) {
	in.siblings.products = in.siblings.products || product
	for i, t := range in.tokens {
		if t == token+1 {
			return
		}
		if t == 0 {
			in.tokens[i] = token + 1
			return
		}
	}
}

// A within identifies the module of a name in another one.
type within struct {
	outer *instance
	name  string
}

// A moduleFinder finds the layers of the modules that launched kernels.
type moduleFinder struct {
	*measurer
	in    map[uint32]*instance // by module; nil if it and what it is in only hold others
	names map[within]*instance
	top   []*siblings
}

// moduleLayers returns the layers by modules, in the order of time.
func (r *measurer) moduleLayers() []layer {
	if r.Module == nil {
		return nil
	}
	m := &moduleFinder{measurer: r, in: make(map[uint32]*instance), names: make(map[within]*instance)}
	ran := m.see()
	if len(m.in) == 0 {
		return nil
	}
	return m.segments(ran)
}

// see notes each kernel for all modules that it is in, and returns the innermost module of each.
func (m *moduleFinder) see() []*instance {
	ran := make([]*instance, len(m.list))
	last, at := uint32(0), (*instance)(nil)
	for i := range m.list {
		k := &m.list[i]
		id := m.Module(int(m.device.Work[k.work].Number))
		if id == 0 {
			continue
		}
		if id != last {
			last, at = id, m.instanceOf(id)
		}
		ran[i] = at
		product := k.role == product || k.role == experts || k.role == convolve
		for in := at; in != nil; in = in.outer {
			in.note(k.token, product)
		}
	}
	return ran
}

// instanceOf returns a module, or the innermost of those that it is in that is no container.
func (m *moduleFinder) instanceOf(id uint32) *instance {
	in, ok := m.in[id]
	if ok || id == 0 {
		return in
	}
	name, outer := m.Named(id)
	in = m.instanceOf(outer)
	if class := classOf(name); !containers[class] && (in == nil || in.depth < deepest) {
		in = m.inside(in, name, class)
	}
	m.in[id] = in
	return in
}

// inside returns the module of a name in another one.
func (m *moduleFinder) inside(outer *instance, name, class string) *instance {
	key := within{outer, name}
	if in := m.names[key]; in != nil {
		return in
	}
	list := &m.top
	in := &instance{outer: outer}
	if outer != nil {
		in.depth = outer.depth + 1
		list = &outer.inner
	}
	at := slices.IndexFunc(*list, func(s *siblings) bool { return s.class == class })
	switch n := len(*list); {
	case at < 0 && n == mostClasses:
		at = n - 1
	case at < 0:
		at = n
		*list = append(*list, &siblings{class: class})
	}
	in.siblings = (*list)[at]
	in.siblings.count++
	m.names[key] = in
	return in
}

// classOf returns the class of a module: its name without the number that the profiler adds.
func classOf(name string) string {
	i := len(name) - 1
	for i > 0 && '0' <= name[i] && name[i] <= '9' {
		i--
	}
	if i > 0 && name[i] == '_' {
		return name[:i]
	}
	return name
}

// layerOf returns the outermost module that is a layer of a module and those that it is in, or nil.
func layerOf(in *instance) (out *instance) {
	for ; in != nil; in = in.outer {
		if in.siblings.count >= fewest && in.siblings.products && in.tokens[fewKernels-1] != 0 {
			out = in
		}
	}
	return out
}

// segments returns what ran for each layer, given the innermost module of each kernel. Work without a module is of the layer that goes on behind
// it.
func (m *moduleFinder) segments(ran []*instance) (out []layer) {
	var at, in, inner *instance
	pass, run := "", 1
	last := int32(-1)
	for i := range ran {
		if ran[i] != inner {
			inner, in = ran[i], layerOf(ran[i])
		}
		if in == nil {
			continue
		}
		k := &m.list[i]
		of := m.Pass(int(m.device.Work[k.work].Number))
		step := m.sequence.steps[k.work]
		if n := len(out) - 1; in != at || of != pass || step != last {
			// A module that runs again in its pass begins another run through the model.
			again := in.run == run && slices.Contains(in.passes, of)
			if again || step != last {
				run++
			}
			in.ran(run, of)
			out = append(out, layer{from: i, to: i + 1, hint: in.siblings.class,
				follows: n >= 0 && step == last && !again && in.outer == at.outer})
		} else {
			out[n].to = i + 1
		}
		at, pass, last = in, of, step
	}
	for i := range out {
		m.findCore(&out[i])
	}
	return out
}

// ran notes a run of the module in a pass.
func (in *instance) ran(run int, pass string) {
	if in.run != run {
		in.run, in.passes = run, in.passes[:0]
	}
	in.passes = append(in.passes, pass)
}

// findCore finds attention in a layer, or what takes its place.
func (m *moduleFinder) findCore(l *layer) {
	for _, is := range []func(*kernel) bool{mixes, isSoftmax} {
		h := uint64(1)
		for i := l.from; i < l.to; i++ {
			k := &m.list[i]
			if !is(k) {
				continue
			}
			if l.core.to == 0 {
				l.core = core{from: i, role: k.role, back: k.back}
			}
			l.core.to = i + 1
			h = (h ^ uint64(uint32(k.token))) * 0x100000001b3
		}
		if l.core.to > 0 {
			l.core.kind = m.kindOf(h)
			return
		}
	}
	l.core = core{from: l.from, to: l.from, kind: -1, back: m.Pass(int(m.device.Work[m.list[l.from].work].Number)) == "backward"}
}

// joined returns the layers by modules and, where there are none, those found by kernels. A module that has several cores
// ran several times in a row and is not one layer, so kernels separate the layers there.
func joined(modules, kernels []layer) (out []layer) {
	if len(modules) == 0 {
		return kernels
	}
	end := 0 // of the layers so far
	add := func(l layer) {
		if l.from = max(l.from, end); l.core.from >= l.from {
			out, end = append(out, l), l.to
		}
	}
	for _, m := range modules {
		for len(kernels) > 0 && kernels[0].to <= m.from {
			add(kernels[0])
			kernels = kernels[1:]
		}
		n := 0
		for n < len(kernels) && kernels[n].core.from < m.to {
			n++
		}
		if n < 2 {
			add(m)
		}
		for ; n > 0; n-- {
			if end < m.to {
				add(kernels[0])
			}
			kernels = kernels[1:]
		}
	}
	for _, l := range kernels {
		add(l)
	}
	return out
}
