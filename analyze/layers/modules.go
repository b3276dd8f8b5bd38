package layers

import (
	"slices"
)

// Where modules were recorded, layers are the outermost modules of one class that one module has several of, each with several kernels.

// containers are classes of modules that only hold others.
var containers = map[string]bool{"Sequential": true, "ModuleList": true, "ModuleDict": true}

// siblings are the modules of one class in one module.
type siblings struct {
	names    map[string]*instance
	parent   *instance // nil at the top
	products bool
}

// An instance is one module.
type instance struct {
	siblings *siblings
	tokens   [fewKernels]int32 // different kernels that it launched, plus 1
	class    string
}

// fewKernels is the number of different kernels of a layer; modules with fewer are parts of layers.
const fewKernels = 4

// note notes a kernel of the module.
func (in *instance) note(token int32) {
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

// A family identifies the modules of one class in one module.
type family struct {
	parent *instance
	class  string
}

// A moduleFinder finds the layers of the modules that launched kernels.
type moduleFinder struct {
	*measurer
	in    map[uint32][]*instance // by module: itself and what it is in
	seen  map[uint64]bool        // kernels by module
	all   map[family]*siblings
	layer map[uint32]*instance // by module: the layer that it is in, or nil
}

// moduleLayers returns the layers by modules, in the order of time.
func (r *measurer) moduleLayers() []layer {
	if r.Module == nil {
		return nil
	}
	m := &moduleFinder{measurer: r, in: make(map[uint32][]*instance), seen: make(map[uint64]bool), all: make(map[family]*siblings), layer: make(map[uint32]*instance)}
	for i := range r.list {
		m.see(&r.list[i])
	}
	if len(m.in) == 0 {
		return nil
	}
	for id, list := range m.in {
		m.layer[id] = layerOf(list)
	}
	return m.segments()
}

func (m *moduleFinder) moduleOf(k *kernel) uint32 { return m.Module(int(m.device.Work[k.work].Number)) }

// see notes the kernel for all modules that it is in.
func (m *moduleFinder) see(k *kernel) {
	id := m.moduleOf(k)
	if id == 0 {
		return
	}
	pair := uint64(id)<<32 | uint64(uint32(k.token))
	if m.seen[pair] {
		return
	}
	m.seen[pair] = true
	for _, in := range m.instancesOf(id) {
		in.note(k.token)
		in.siblings.products = in.siblings.products || k.role == product || k.role == experts || k.role == convolve
	}
}

// instancesOf returns a module and those that it is in, outermost first, without containers.
func (m *moduleFinder) instancesOf(id uint32) []*instance {
	list, ok := m.in[id]
	if ok || id == 0 {
		return list
	}
	type open struct {
		id   uint32
		name string
	}
	var inner []open // whose lists are not known yet
	for at := id; at != 0; {
		if list, ok = m.in[at]; ok {
			break
		}
		name, outer := m.Named(at)
		inner, at = append(inner, open{at, name}), outer
	}
	for _, o := range slices.Backward(inner) {
		list = m.inside(list, o.name)
		m.in[o.id] = list
	}
	return list
}

// inside adds a module to those that it is in.
func (m *moduleFinder) inside(list []*instance, name string) []*instance {
	class := classOf(name)
	if containers[class] {
		return list
	}
	var parent *instance
	if len(list) > 0 {
		parent = list[len(list)-1]
	}
	key := family{parent, class}
	all := m.all[key]
	if all == nil {
		all = &siblings{names: make(map[string]*instance), parent: parent}
		m.all[key] = all
	}
	in := all.names[name]
	if in == nil {
		in = &instance{siblings: all, class: class}
		all.names[name] = in
	}
	return append(slices.Clip(list), in)
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

// layerOf returns the outermost of modules within each other that is a layer, or nil.
func layerOf(list []*instance) *instance {
	for _, in := range list {
		if len(in.siblings.names) >= fewest && in.siblings.products && in.tokens[fewKernels-1] != 0 {
			return in
		}
	}
	return nil
}

// segments returns what ran for each layer. Work without a module is of the layer that goes on behind it.
func (m *moduleFinder) segments() (out []layer) {
	var at *instance
	pass := ""
	last := int32(-1)
	type once struct {
		in   *instance
		pass string
	}
	seen := make(map[once]bool) // in the run: a module that runs again in its pass begins another one
	for i := range m.list {
		k := &m.list[i]
		in := m.layer[m.moduleOf(k)]
		if in == nil {
			continue
		}
		of := m.Pass(int(m.device.Work[k.work].Number))
		step := m.sequence.steps[k.work]
		if n := len(out) - 1; in != at || of != pass || step != last {
			again := seen[once{in, of}]
			if again || step != last {
				clear(seen)
			}
			seen[once{in, of}] = true
			out = append(out, layer{from: i, to: i + 1, hint: in.class,
				follows: n >= 0 && step == last && !again && in.siblings.parent == at.siblings.parent})
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
