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

// A gpuRow identifies the work of one name from one place.
type gpuRow struct {
	place
	forward        contextID
	name           trace.Sym
	kind           trace.Kind
	device, stream int64
	step           int32 // index of the step of the launch, or -1
}

// notLaunched is the frame of work whose launch call is unknown.
const notLaunched = "(launch not recorded)"

// Stacks adds a stack for each launch site and name of GPU work: annotations, modules, Python
// functions and operators that were open at the launch, then the name of the work. Times are in
// ns. Work of a backward pass is below its forward operator and a frame "backward". The device
// is a frame only if there are several. Steps are labels, not frames, so that the same work of
// all steps is one box of a flame graph.
//
// Operations beyond maxRows rows, and those whose stacks exceed the builder's memory, are
// pooled in one stack; Stacks returns their number.
func Stacks(b *profile.Builder, tl *gpu.Timeline, marks []steps.Mark, maxRows int) (pooled int64) {
	a := Work(tl, HostOf(tl.Trace), marks, Options{Rows: limits.MaxRows})
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
			cmp.Compare(x.note, y.note), cmp.Compare(x.forward, y.forward), cmp.Compare(x.pass, y.pass), cmp.Compare(x.kind,
				y.kind))
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

// RowMemory is the memory in bytes that a row of GPU operations takes without its stack. The
// entry of the map is a quarter of it.
const RowMemory = 1 << 10

// unlinked marks the kind of work whose launch call is unknown.
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

// frames appends the frames of a context, outermost first, whose kinds are wanted.
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

// FrameOf returns the frame for the name of a host event. The frame of a Python function
// includes the file's name, because viewers sum functions by name alone and many functions are
// called forward.
func FrameOf(name string) profile.Frame {
	file, line, function := label.Split(label.WithoutAddress(name))
	if file == "" {
		return profile.Frame{Name: function}
	}
	return profile.Frame{Name: fmt.Sprintf("%s (%s:%d)", function, path.Base(file), line), File: file, Line: int64(line)}
}

// MaxFrames is the number of frames of a profile from which deep stacks are cut. Millions of
// deep stacks would fill the memory, and nobody can read them.
const MaxFrames = 2 << 20

// A FrameLimit is the number of frames that a profile may still add.
type FrameLimit int

// Cut subtracts the frames of a stack. Once the limit is used up it returns only the outermost
// frames of the stack and its last.
func (l *FrameLimit) Cut(stack []profile.Frame) []profile.Frame {
	const few = 16
	if *l -= FrameLimit(len(stack)); *l >= 0 || len(stack) <= few {
		return stack
	}
	return append(stack[:few-1:few-1], stack[len(stack)-1])
}

// MaxDepth is the maximum depth of a stack, because the memory for nested events grows with
// the square of their depth. Deeper events count for the last frame that is kept.
const MaxDepth = 200
