package attribute

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"

	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/analyze/steps"
	"assay/internal/label"
	"assay/internal/profile"
	"assay/summary"
	"assay/trace"
)

// A gpuRow is the work of one name from one place.
type gpuRow struct {
	place
	forward        contextID
	name           trace.Sym
	kind           trace.Kind
	device, stream int64
	step           int32 // index of the step in which it was launched, or -1
}

// notLaunched is the frame of work that no call is known for.
const notLaunched = "(launch not recorded)"

// Stacks adds what was open when device work was launched, and the name of
// the work: annotations, modules and Python functions, operators. Work of a
// backward pass is where its forward operator was called, below a frame
// "backward". The device is a frame only where there are several. Steps are
// labels, so that the same work of all steps is one box in a picture. Operations of
// further rows than maxRows, and of stacks that the builder has no memory for, are pooled
// and counted.
func Stacks(b *profile.Builder, tl *gpu.Timeline, marks []steps.Mark, maxRows int) (pooled int64) {
	a := Work(tl, HostOf(tl.Trace), marks, Asked{Rows: limits.MaxRows})
	type sums struct{ count, ns int64 }
	rows := make(map[gpuRow]*sums)
	var others sums
	for _, d := range tl.Devices {
		for _, w := range d.Work {
			if !tl.Starts(w) {
				continue
			}
			act := tl.Activity(w)
			key := gpuRow{name: act.Name, kind: act.Kind, device: d.Ordinal, stream: tl.Stream(w), step: -1}
			if i := a.Links.Of[w.Number]; i >= 0 {
				k := &a.origins[i]
				key.place, key.forward = place{k.context, k.note, k.pass}, k.forward
				key.step = int32(steps.At(marks, a.Links.Start(i)))
			} else {
				key.kind |= unlinked
			}
			r := rows[key]
			switch {
			case r == nil && len(rows) >= maxRows:
				r = &others
			case r == nil:
				r = new(sums)
				rows[key] = r
			}
			r.count, r.ns = r.count+1, summary.Plus(r.ns, act.Dur)
		}
	}
	keys := slices.SortedFunc(maps.Keys(rows), func(x, y gpuRow) int {
		return cmp.Or(cmp.Compare(rows[y].ns, rows[x].ns), cmp.Compare(x.context, y.context), cmp.Compare(x.name, y.name),
			cmp.Compare(x.device, y.device), cmp.Compare(x.stream, y.stream), cmp.Compare(x.step, y.step),
			cmp.Compare(x.note, y.note), cmp.Compare(x.forward, y.forward), cmp.Compare(x.pass, y.pass), cmp.Compare(x.kind, y.kind))
	})
	limit, streams := FrameLimit(MaxFrames), make(map[int64]profile.Label)
	for _, key := range keys {
		r := rows[key]
		if _, ok := streams[key.stream]; !ok {
			streams[key.stream] = profile.Label{Key: "stream", Text: fmt.Sprint("stream ", key.stream)}
		}
		labels := []profile.Label{streams[key.stream]}
		if key.step >= 0 {
			labels = append(labels, profile.Label{Key: "step", Text: tl.Trace.Name(marks[key.step].Name)})
		}
		if b.Add(limit.Cut(a.stack(key)), labels, r.count, r.ns) {
			pooled += r.count
		}
	}
	if others.count > 0 {
		b.Add([]profile.Frame{{Name: profile.OtherStacks}}, nil, others.count, others.ns)
	}
	return pooled + others.count
}

// RowMemory is the memory for one row of GPU operations without its stack, in
// bytes: a quarter of it is the entry in the map.
const RowMemory = 1 << 10

// unlinked marks the kind of work that no call is known for.
const unlinked trace.Kind = 1 << 7

// stack returns the frames of a row, outermost first.
func (a *Attribution) stack(row gpuRow) []profile.Frame {
	var out []profile.Frame
	if len(a.tl.Devices) > 1 {
		name := fmt.Sprintf("GPU %d", row.device)
		if model := gpu.DeviceName(a.t.Meta, row.device); model != "" {
			name += " " + model
		}
		out = append(out, profile.Frame{Name: name})
	}
	switch isOp := func(k trace.Kind) bool { return k == trace.CPUOp }; {
	case row.kind&unlinked != 0:
		out = append(out, profile.Frame{Name: notLaunched})
	case row.forward != 0:
		out = a.frames(out, row.forward, func(k trace.Kind) bool { return !isOp(k) })
		out = append(out, profile.Frame{Name: "backward"})
		out = a.frames(out, row.context, isOp)
	default:
		if a.ctx.at(row.context).annotation == 0 {
			out = a.frames(out, row.note, func(k trace.Kind) bool { return k == trace.Annotation })
		}
		out = a.frames(out, row.context, func(trace.Kind) bool { return true })
	}
	return append(out, profile.Frame{Name: a.t.Name(row.name)})
}

// frames appends the frames of a context of the kinds that are wanted.
func (a *Attribution) frames(out []profile.Frame, id contextID, wanted func(trace.Kind) bool) []profile.Frame {
	var up []profile.Frame
	for ; id != 0 && len(out)+len(up) < MaxDepth; id = a.ctx.at(id).parent {
		if c := a.ctx.at(id); wanted(c.kind) {
			up = append(up, FrameOf(a.t.Name(c.name)))
		}
	}
	slices.Reverse(up)
	return append(out, up...)
}

// FrameOf makes a frame of a name. Viewers add up functions by name alone, and
// every other function is called forward, so that of a Python function has its
// file's name in it.
func FrameOf(name string) profile.Frame {
	file, line, function := label.Split(label.WithoutAddress(name))
	if file == "" {
		return profile.Frame{Name: function}
	}
	return profile.Frame{Name: fmt.Sprintf("%s (%s:%d)", function, path.Base(file), line), File: file, Line: int64(line)}
}

// MaxFrames is how many frames all stacks of a profile may have before deep ones
// are cut: a profile of millions of deep stacks is of no use and fills the memory.
const MaxFrames = 2 << 20

// A FrameLimit cuts stacks once it is used up.
type FrameLimit int

// Cut returns the stack, or its outermost frames and its last.
func (l *FrameLimit) Cut(stack []profile.Frame) []profile.Frame {
	const few = 16
	if *l -= FrameLimit(len(stack)); *l >= 0 || len(stack) <= few {
		return stack
	}
	return append(stack[:few-1:few-1], stack[len(stack)-1])
}

// MaxDepth is the deepest stack, because the memory for nested events grows with the
// square of their depth. Deeper events count for the last frame that is kept.
const MaxDepth = 200
