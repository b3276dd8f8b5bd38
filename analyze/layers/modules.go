package layers

import "strings"

// Where modules were recorded, layers are the outermost modules of one class that one module has several of, each with several kernels.

// containers are classes of modules that only hold others.
var containers = map[string]bool{"Sequential": true, "ModuleList": true, "ModuleDict": true}

// siblings are the modules of one class in one module.
type siblings struct {
	names    map[string]*instance
	parent   string
	products bool
}

// An instance is one module.
type instance struct {
	siblings *siblings
	tokens   map[int32]bool
	class    string
}

// A moduleFinder finds the layers of the modules that launched kernels.
type moduleFinder struct {
	*measurer
	paths map[uint32][]string  // by module: its path without containers
	all   map[string]*siblings // by path of the parent and class
	layer map[uint32]*instance // by module: the layer that it is in, or nil
}

// moduleLayers returns the layers by modules, in the order of time.
func (r *measurer) moduleLayers() []layer {
	if r.Module == nil {
		return nil
	}
	m := &moduleFinder{measurer: r, paths: make(map[uint32][]string), all: make(map[string]*siblings), layer: make(map[uint32]*instance)}
	for i := range r.list {
		m.see(&r.list[i])
	}
	for id, path := range m.paths {
		m.layer[id] = m.layerOf(path)
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
	path, ok := m.paths[id]
	if !ok {
		for name := range strings.SplitSeq(m.Path(id), "/") {
			if !containers[classOf(name)] {
				path = append(path, name)
			}
		}
		m.paths[id] = path
	}
	for i, name := range path {
		s := m.siblingsOf(path, i)
		in := s.names[name]
		if in == nil {
			in = &instance{siblings: s, tokens: make(map[int32]bool), class: classOf(name)}
			s.names[name] = in
		}
		in.tokens[k.token] = true
		s.products = s.products || k.role == product || k.role == experts || k.role == convolve
	}
}

// siblingsOf returns the modules beside element i of a path.
func (m *moduleFinder) siblingsOf(path []string, i int) *siblings {
	parent := strings.Join(path[:i], "/")
	key := parent + "/" + classOf(path[i])
	s := m.all[key]
	if s == nil {
		s = &siblings{names: make(map[string]*instance), parent: parent}
		m.all[key] = s
	}
	return s
}

// classOf returns the class of a module: its name without the number that the profiler adds.
func classOf(name string) string {
	if i := strings.LastIndexByte(name, '_'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	return name
}

// layerOf returns the outermost module of a path that is a layer, or nil.
func (m *moduleFinder) layerOf(path []string) *instance {
	const kernels = 4 // different ones; modules with fewer are parts of layers
	for i, name := range path {
		s := m.siblingsOf(path, i)
		if in := s.names[name]; len(s.names) >= fewest && s.products && len(in.tokens) >= kernels {
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

// joined returns the layers by modules and, where there are none, those that kernels tell. A module that ran several times in a
// row is not one layer, so there kernels tell them apart.
func joined(modules, kernels []layer) (out []layer) {
	if len(modules) == 0 {
		return kernels
	}
	for _, m := range modules {
		for len(kernels) > 0 && kernels[0].to <= m.from {
			out, kernels = append(out, kernels[0]), kernels[1:]
		}
		n := 0
		for n < len(kernels) && kernels[n].from < m.to {
			n++
		}
		if n < 2 {
			out = append(out, m)
		} else {
			out = append(out, kernels[:n]...)
		}
		kernels = kernels[n:]
	}
	return append(out, kernels...)
}
