package attribute

import (
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/redact"
	"assay/summary"
	"assay/trace"
)

// A place is the position in the program that launched work: see origin.
type place struct {
	context contextID
	note    contextID
	pass    pass
}

// addUp adds the linked work to the modules, Python functions and annotations that launched it.
// It is self time of the innermost of each kind and total time of all of them. A function that
// is open twice counts once.
func (a *Attribution) addUp() {
	n := len(a.ctx.list)
	work, backward, noted := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range a.Links.List {
		k, o := &a.Links.List[i], &a.origins[i]
		at := o.context
		if o.forward != 0 {
			at = o.forward
		}
		work[at] = summary.Plus(work[at], k.WorkNS)
		if o.pass == backwardPass || o.pass == recomputePass {
			backward[at] = summary.Plus(backward[at], k.WorkNS)
		}
		noted[o.note] = summary.Plus(noted[o.note], k.WorkNS)
	}
	self := func(r *run, ns int64) { r.gpuSelf = summary.Plus(r.gpuSelf, ns) }
	for id := range a.ctx.list {
		c := a.ctx.at(contextID(id))
		if c.module != 0 && work[id] > 0 {
			self(a.modules.row(c.module), work[id])
		}
		if c.line != 0 && work[id] > 0 {
			self(a.lines.row(a.ctx.at(c.line).name), work[id])
		}
		if id > 0 && noted[id] > 0 {
			self(a.notes.row(c.name), noted[id])
		}
	}
	// A context has a higher number than its parent.
	for id := n - 1; id > 0; id-- {
		up := a.ctx.list[id].parent
		work[up], backward[up] = summary.Plus(work[up], work[id]), summary.Plus(backward[up], backward[id])
		noted[up] = summary.Plus(noted[up], noted[id])
	}
	a.totals(work, backward, noted)
}

// totals adds the work below each context to the total of its name, unless a context of the
// same name encloses it.
func (a *Attribution) totals(work, backward, noted []int64) {
	total := func(r *run, ns int64) { r.gpuTotal = summary.Plus(r.gpuTotal, ns) }
	type key struct {
		name trace.Sym
		kind trace.Kind
	}
	open := make(map[key]int)
	a.ctx.walk(func(id contextID, enter bool) {
		c := a.ctx.at(id)
		k := key{c.name, c.kind}
		if !enter {
			open[k]--
			return
		}
		open[k]++
		switch first := open[k] == 1; {
		case c.module == id: // modules have a row per context, so nothing counts twice
			r := a.modules.row(id)
			total(r, work[id])
			r.backward = summary.Plus(r.backward, backward[id])
		case c.kind == trace.Python && first && a.ctx.role(c.name, c.kind)&isModule == 0:
			total(a.lines.row(c.name), work[id])
		case c.kind == trace.Annotation && first:
			total(a.notes.row(c.name), noted[id])
		}
	})
}

// operator returns the name of the innermost operator that launched the activity of the given
// number, or 0 if it is unknown.
func (a *Attribution) operator(number int) trace.Sym {
	i := a.Links.Of[number]
	if i < 0 {
		return 0
	}
	op := a.ctx.at(a.origins[i].context).op
	return a.ctx.at(op).name // context 0 has name 0
}

// moduleRows returns a row per path of modules. Calls of a module from different functions of
// its parent are one row.
func (a *Attribution) moduleRows(rank int) (out []summary.Module) {
	index := make(map[string]int)
	for id, r := range a.modules {
		if r.empty() {
			continue
		}
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

// modulePath returns the names of the modules that enclose a context, itself included,
// separated by slashes.
func (a *Attribution) modulePath(id contextID) string {
	var parts []string
	for id = a.ctx.at(id).module; id != 0; id = a.ctx.at(a.ctx.at(id).parent).module {
		name := strings.TrimPrefix(a.ctx.name(id), label.ModulePrefix)
		parts = append(parts, strings.ReplaceAll(redact.Cut(name, maxModuleName), "/", "_"))
	}
	slices.Reverse(parts)
	return strings.Join(parts, "/")
}

// lineRows returns the Python functions with GPU time, directly or through their callees.
func (a *Attribution) lineRows(rank int) (out []summary.Line) {
	index := make(map[string]int)
	for name, r := range a.lines {
		if r == nil || r.gpuTotal == 0 {
			continue
		}
		text := label.WithoutAddress(a.t.Name(trace.Sym(name)))
		i, ok := index[text]
		if !ok {
			i = len(out)
			index[text] = i
			file, line, function := label.Split(text)
			out = append(out, summary.Line{File: file, Line: line, Function: function, Rank: rank})
		}
		l := &out[i]
		l.Count, l.CPUTotalNS = summary.Plus(l.Count, r.count), summary.Plus(l.CPUTotalNS, r.cpuTotal)
		l.GPUSelfNS, l.GPUTotalNS = summary.Plus(l.GPUSelfNS, r.gpuSelf), summary.Plus(l.GPUTotalNS, r.gpuTotal)
	}
	return out
}

func (a *Attribution) noteRows(rank int) (out []summary.Annotation) {
	for name, r := range a.notes {
		if r == nil || r.empty() || a.ctx.role(trace.Sym(name), trace.Annotation)&isStep != 0 {
			continue // steps have a table of their own
		}
		out = append(out, summary.Annotation{
			Name: a.t.Name(trace.Sym(name)), Rank: rank,
			Count: r.count, CPUTotalNS: r.cpuTotal, GPUSelfNS: r.gpuSelf, GPUTotalNS: r.gpuTotal,
		})
	}
	return out
}

// passRows returns the work of each device by pass. It returns nil if nothing was trained or
// passes are not measured.
func (a *Attribution) passRows(rank int) (out []summary.Pass) {
	if !a.trains || !a.passes {
		return nil
	}
	for _, d := range a.tl.Devices {
		var rows [len(passNames)]summary.Pass
		for _, w := range d.Work {
			if !a.tl.Starts(w) {
				continue
			}
			p := unknownPass
			if i := a.Links.Of[w.Number]; i >= 0 {
				p = a.origins[i].pass
			}
			rows[p].Count++
			rows[p].GPUNS = summary.Plus(rows[p].GPUNS, a.tl.Activity(w).Dur)
		}
		for p, r := range rows {
			if r.Count > 0 {
				r.Name, r.Rank, r.Device = pass(p).String(), rank, d.Ordinal
				out = append(out, r)
			}
		}
	}
	return out
}

// PassOf returns the pass of training that the activity of the given number belongs to, as in [summary.Pass].
func (a *Attribution) PassOf(number int) string {
	if i := a.Links.Of[number]; i >= 0 {
		return a.origins[i].pass.String()
	}
	return unknownPass.String()
}

// ModuleOf returns a number for the modules that launched the activity of the given number, for [Attribution.Module]: those of the
// forward operator if it is of a backward pass. It is 0 if there are none.
func (a *Attribution) ModuleOf(number int) uint32 {
	i := a.Links.Of[number]
	if i < 0 {
		return 0
	}
	at := a.origins[i].context
	if a.origins[i].forward != 0 {
		at = a.origins[i].forward
	}
	return uint32(a.ctx.at(at).module)
}

// Module returns the name of the innermost module of a number, and the number of the modules that it is in, or 0.
func (a *Attribution) Module(module uint32) (name string, outer uint32) {
	id := contextID(module)
	return strings.TrimPrefix(a.ctx.name(id), label.ModulePrefix), uint32(a.ctx.at(a.ctx.at(id).parent).module)
}
