package analyze

import (
	"strconv"
	"strings"

	"assay/summary"
	"assay/trace"
)

// A place is where in the program work came from.
type place struct {
	context contextID // modules and lines: of the forward pass, where there is one
	note    contextID
	pass    pass
}

// addUp gives the linked work to modules, Python functions and annotations. It
// goes up from each distinct place once, however often the program was there.
func (a *attribution) addUp() {
	sums := make(map[place]int64)
	for i := range a.link.list {
		k := &a.link.list[i]
		p := place{k.context, k.note, k.pass}
		if k.forward != 0 {
			p.context = k.forward
		}
		sums[p] = summary.Plus(sums[p], k.workNS)
	}
	for p, ns := range sums {
		a.addUpModules(p, ns)
		a.addUpLines(p, ns)
		a.addUpNotes(p, ns)
	}
}

func (a *attribution) addUpModules(p place, ns int64) {
	self := true
	for id := a.ctx.at(p.context).module; id != 0; id = a.ctx.at(a.ctx.at(id).parent).module {
		r := a.modules.of(id)
		if self {
			r.gpuSelf, self = summary.Plus(r.gpuSelf, ns), false
		}
		r.gpuTotal = summary.Plus(r.gpuTotal, ns)
		if p.pass == backwardPass {
			r.backward = summary.Plus(r.backward, ns)
		}
	}
}

// addUpLines counts a function that is open twice once.
func (a *attribution) addUpLines(p place, ns int64) {
	if line := a.ctx.at(p.context).line; line != 0 {
		r := a.lines.of(a.ctx.at(line).name)
		r.gpuSelf = summary.Plus(r.gpuSelf, ns)
	}
	a.eachName(p.context, trace.Python, func(name trace.Sym) {
		if a.ctx.role(name, trace.Python)&isModule == 0 {
			r := a.lines.of(name)
			r.gpuTotal = summary.Plus(r.gpuTotal, ns)
		}
	})
}

func (a *attribution) addUpNotes(p place, ns int64) {
	if p.note == 0 {
		return
	}
	r := a.notes.of(a.ctx.at(p.note).name)
	r.gpuSelf = summary.Plus(r.gpuSelf, ns)
	a.eachName(p.note, trace.Annotation, func(name trace.Sym) {
		r := a.notes.of(name)
		r.gpuTotal = summary.Plus(r.gpuTotal, ns)
	})
}

// operator returns the name of the innermost operator that launched an activity,
// by the activity's number; 0 if none is known.
func (a *attribution) operator(number int) trace.Sym {
	i := a.link.of[number]
	if i < 0 {
		return 0
	}
	op := a.ctx.at(a.link.list[i].context).op
	return a.ctx.at(op).name // of no context the name is 0
}

// eachName calls f with the distinct names of one kind from a context upwards.
func (a *attribution) eachName(id contextID, kind trace.Kind, f func(trace.Sym)) {
	var seen [64]trace.Sym
	names := seen[:0]
up:
	for ; id != 0; id = a.ctx.at(id).parent {
		c := a.ctx.at(id)
		if c.kind != kind {
			continue
		}
		for _, n := range names {
			if n == c.name {
				continue up
			}
		}
		names = append(names, c.name)
		f(c.name)
	}
}

// moduleRows returns the tree of modules. One that is called from several
// functions of its parent is one.
func (a *attribution) moduleRows(rank int) (out []summary.Module) {
	index := make(map[string]int)
	for id, r := range a.modules {
		path := a.modulePath(id)
		i, ok := index[path]
		if !ok {
			i = len(out)
			index[path] = i
			out = append(out, summary.Module{Path: path, Rank: rank})
		}
		m := &out[i]
		m.Count = summary.Plus(m.Count, r.count)
		m.CPUTotalNS = summary.Plus(m.CPUTotalNS, r.cpuTotal)
		m.GPUSelfNS = summary.Plus(m.GPUSelfNS, r.gpuSelf)
		m.GPUTotalNS = summary.Plus(m.GPUTotalNS, r.gpuTotal)
		m.BackwardNS = summary.Plus(m.BackwardNS, r.backward)
	}
	return out
}

// modulePath returns the names of the modules around and at a context.
func (a *attribution) modulePath(id contextID) string {
	var parts []string
	for id = a.ctx.at(id).module; id != 0; id = a.ctx.at(a.ctx.at(id).parent).module {
		name := strings.TrimPrefix(a.ctx.name(id), modulePrefix)
		parts = append(parts, strings.ReplaceAll(name, "/", "_"))
	}
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, "/")
}

// lineRows returns the Python functions that launched anything, or called what
// did.
func (a *attribution) lineRows(rank int) (out []summary.Line) {
	index := make(map[string]int)
	for name, r := range a.lines {
		if r == nil || r.gpuTotal == 0 {
			continue
		}
		text := withoutAddress(a.t.Name(trace.Sym(name)))
		i, ok := index[text]
		if !ok {
			i = len(out)
			index[text] = i
			file, line, function := splitLine(text)
			out = append(out, summary.Line{File: file, Line: line, Function: function, Rank: rank})
		}
		l := &out[i]
		l.Count, l.CPUTotalNS = summary.Plus(l.Count, r.count), summary.Plus(l.CPUTotalNS, r.cpuTotal)
		l.GPUSelfNS, l.GPUTotalNS = summary.Plus(l.GPUSelfNS, r.gpuSelf), summary.Plus(l.GPUTotalNS, r.gpuTotal)
	}
	return out
}

// withoutAddress cuts off where an object lay in memory, which says nothing: of
// "<built-in method embedding of type object at 0x7d6b7761df60>".
func withoutAddress(name string) string {
	if head, _, ok := strings.Cut(name, " at 0x"); ok && strings.HasPrefix(name, "<") {
		return head + ">"
	}
	return name
}

// splitLine takes "demo/train.py(52): train_step" apart. What looks otherwise,
// as built-in methods do, is a function without a file.
func splitLine(name string) (file string, line int, function string) {
	place, function, ok := strings.Cut(name, "): ")
	if !ok {
		return "", 0, name
	}
	i := strings.LastIndexByte(place, '(')
	if i < 0 {
		return "", 0, name
	}
	n, err := strconv.Atoi(place[i+1:])
	if err != nil {
		return "", 0, name
	}
	return place[:i], n, function
}

func (a *attribution) noteRows(rank int) (out []summary.Annotation) {
	for name, r := range a.notes {
		if r == nil || a.ctx.role(trace.Sym(name), trace.Annotation)&isStep != 0 {
			continue // steps have a table of their own
		}
		out = append(out, summary.Annotation{
			Name: a.t.Name(trace.Sym(name)), Rank: rank,
			Count: r.count, CPUTotalNS: r.cpuTotal, GPUSelfNS: r.gpuSelf, GPUTotalNS: r.gpuTotal,
		})
	}
	return out
}

// passRows returns the work of each device by pass, where anything is trained.
func (a *attribution) passRows(rank int) (out []summary.Pass) {
	if !a.trains {
		return nil
	}
	for _, d := range a.tl.devices {
		var rows [len(passNames)]summary.Pass
		for _, w := range d.work {
			p := unknownPass
			if i := a.link.of[w.number]; i >= 0 {
				p = a.link.list[i].pass
			}
			rows[p].Count++
			rows[p].GPUNS = summary.Plus(rows[p].GPUNS, w.Dur)
		}
		for p, r := range rows {
			if r.Count > 0 {
				r.Name, r.Rank, r.Device = pass(p).String(), rank, d.ordinal
				out = append(out, r)
			}
		}
	}
	return out
}
