package efficiency

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/analyze/classify"
	"assay/analyze/efficiency/hardware"
	"assay/analyze/efficiency/operators"
	"assay/summary"
	"assay/trace"
)

// The names of nodes other than kernels: calls do not state which copy or memset the node will run.
const (
	copyNode = "\x01copy"
	fillNode = "\x01fill"
)

// maxNodes is the maximum number of nodes in all captures of an input, and in all different
// replays of a GPU: 500 graphs of 500 nodes.
const maxNodes = 250_000

// A digest identifies a sequence of names.
type digest struct{ text []byte }

func (d *digest) add(name string) {
	sum := sha256.Sum256(append(d.text, name...))
	d.text = append(d.text[:0], sum[:16]...)
}

func (d *digest) String() string { return hex.EncodeToString(d.text) }

// A recording is a time during which a process captured a stream into a graph.
type recording struct {
	start, end int64
	name       string // name of the annotation around it
	launches   []launch
}

// A launch is a call that added a node to a graph.
type launch struct {
	call *trace.Call
	node string // the name of the kernel, or that of a kind of node; "" if not recorded
}

// captures returns the captures of graphs in the trace, without duplicates.
func (o *Owners) captures(rank int) (out []summary.EfficiencyCapture) {
	found := o.recordings()
	if len(found) == 0 {
		return nil
	}
	ops := o.opsIn(found)
	seen, nodes := map[string]int{}, 0
	for _, r := range found {
		if len(r.launches) == 0 {
			continue
		}
		c := o.capture(r, ops)
		key := fmt.Sprint(c.Name, c.Kernels, c.Rows, c.Of)
		if at, ok := seen[key]; ok {
			out[at].Count++
			continue
		}
		c.Rank, c.Number, c.Count = rank, len(out)+1, 1
		if nodes += len(c.Of); nodes > maxNodes {
			return append(out, summary.EfficiencyCapture{Rank: rank, Number: len(out) + 1, Incomplete: true})
		}
		seen[key] = len(out)
		out = append(out, c)
	}
	return out
}

// capture returns one capture, with the operators that added its nodes.
func (o *Owners) capture(r *recording, ops map[trace.TrackID][]*trace.Op) summary.EfficiencyCapture {
	out := summary.EfficiencyCapture{Name: r.name, Size: captureSize(r.name), Nodes: int64(len(r.launches))}
	names, named := digest{}, true
	for _, l := range r.launches {
		named = named && l.node != ""
		names.add(l.node)
	}
	if !named {
		return out // no replay can match it
	}
	out.Kernels = names.String()
	rows := captured{o: o, out: &out, at: map[capturedKey]int32{}, parts: newParts(o)}
	stacks := map[trace.TrackID]*opened{}
	calls := map[*trace.Op]int32{}
	for _, l := range r.launches {
		s := stacks[l.call.Track]
		if s == nil {
			s = &opened{rest: ops[l.call.Track]}
			stacks[l.call.Track] = s
		}
		open := s.at(l.call.Start)
		if len(open) == 0 {
			out.Of = append(out.Of, -1)
			continue
		}
		rows.parts.uses(o.usesOf(open))
		owner, work := o.choose(open, l.call.Kernel, l.call.Kernel == 0)
		op := open[owner]
		row, again := calls[op]
		if !again {
			if l.call.Kernel == 0 { // which copy it is, between host and device or not, is not recorded
				work = o.unknown(op, 0, operators.GraphReplay)
			}
			row = rows.add(work, o.t.Name(l.call.Kernel), o.again(open, owner))
			if l.call.Kernel != 0 && rows.parts.add(op, &o.works[work].work, o.t.Name(l.call.Kernel)) && !slices.Contains(out.Hidden, row) {
				out.Hidden = append(out.Hidden, row)
			}
			calls[op] = row
		}
		out.Of = append(out.Of, row)
	}
	out.Decode = &rows.parts.DecodeParts
	return out
}

// captured collects the rows of a capture.
type captured struct {
	o   *Owners
	out *summary.EfficiencyCapture
	at  map[capturedKey]int32

	parts parts
}

type capturedKey struct {
	work       int32
	recomputed bool
}

// add adds a call and returns its row. kernel is the first kernel that it launched.
func (c *captured) add(work int32, kernel string, recomputed bool) int32 {
	k := &c.o.works[work]
	key := capturedKey{work, recomputed}
	at, ok := c.at[key]
	if !ok {
		id := c.o.rows[k.row]
		at = int32(len(c.out.Rows))
		c.at[key] = at
		of := hardware.Totals{Unit: k.work.Unit, Peak: hardware.PeakType(k.work.Unit, k.work.Type, kernel)}
		c.out.Rows = append(c.out.Rows, summary.EfficiencyRow{
			Op: c.o.t.Name(id.name), Dims: recorded(c.o.t.Name(id.dims)), Types: recorded(c.o.t.Name(id.types)),
			Unit: UnitName(k.work.Unit), Dtype: figureName(of), Kernel: kernel, From: summary.FromCapture,
		})
	}
	t := tally{flops: k.work.FLOPs, model: k.work.Model, bytes: k.work.Bytes, estimated: k.work.BytesEstimated}
	if recomputed && t.model.Why == operators.Known {
		t.model.N = 0
	}
	row := &c.out.Rows[at]
	first := row.Count == 0
	row.Count++
	for _, sum := range []struct {
		of   **int64
		call operators.Count
	}{{&row.FLOPs, t.flops}, {&row.Bytes, t.bytes}, {&row.Model, t.model}} {
		if n := number(sum.call); n != nil {
			if !first {
				n = summary.PlusOrNull(n, *sum.of)
			}
			*sum.of = n
		}
	}
	state(row, &t)
	return at
}

// opened is the stack of open operators of one thread, at times that do not decrease.
type opened struct {
	rest []*trace.Op // by start
	open []*trace.Op
}

// at returns the operators that are open at a time, outermost first.
func (s *opened) at(ns int64) []*trace.Op {
	for len(s.rest) > 0 && s.rest[0].Start <= ns {
		s.close(s.rest[0].Start)
		s.open = append(s.open, s.rest[0])
		s.rest = s.rest[1:]
	}
	s.close(ns)
	return s.open
}

func (s *opened) close(ns int64) {
	s.open = slices.DeleteFunc(s.open, func(op *trace.Op) bool { return op.Start+op.Dur <= ns })
}

// opsIn returns the operators during recordings by thread, outer ones first.
func (o *Owners) opsIn(found []*recording) map[trace.TrackID][]*trace.Op {
	threads, first, last := map[trace.TrackID]bool{}, found[0].start, found[0].end
	for _, r := range found {
		first, last = min(first, r.start), max(last, r.end)
		for _, l := range r.launches {
			threads[l.call.Track] = true
		}
	}
	out := map[trace.TrackID][]*trace.Op{}
	for op := range o.t.Ops.All() {
		if threads[op.Track] && op.Start < last && op.Start+op.Dur > first {
			out[op.Track] = append(out[op.Track], op)
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b *trace.Op) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur), cmp.Compare(a.External, b.External))
		})
	}
	return out
}

// recordings finds the captures whose start and end are in the trace, with their launches in
// order. It leaves out captures of one process that overlap, because the trace does not record
// to which of them a launch belongs.
func (o *Owners) recordings() (out []*recording) {
	edges, byPID := map[string][]*trace.Call{}, map[string][]*recording{}
	for c := range o.t.Calls.All() {
		if o.named(c.Name).edge != 0 {
			pid := o.t.Tracks[c.Track].PID
			edges[pid] = append(edges[pid], c)
		}
	}
	if len(edges) == 0 {
		return nil
	}
	edge := func(c *trace.Call) int8 { return o.named(c.Name).edge }
	for pid, list := range edges {
		slices.SortFunc(list, func(a, b *trace.Call) int { return cmp.Compare(a.Start, b.Start) })
		for i := 0; i+1 < len(list); i++ {
			begin, end := list[i], list[i+1]
			alone := (i == 0 || edge(list[i-1]) < 0) && (i+2 == len(list) || edge(list[i+2]) > 0)
			if alone && edge(begin) > 0 && edge(end) < 0 {
				r := &recording{start: begin.Start, end: end.Start, name: o.captureName(begin)}
				byPID[pid] = append(byPID[pid], r)
				out = append(out, r)
			}
		}
	}
	slices.SortFunc(out, func(a, b *recording) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.name, b.name)) })
	o.launchesOf(byPID)
	return out
}

// captureEdge returns 1 for a call that begins a capture, -1 for a call that ends it, and 0 for
// other calls.
func captureEdge(call string) int8 {
	switch {
	case strings.Contains(call, "StreamBeginCapture"):
		return 1
	case strings.Contains(call, "StreamEndCapture"):
		return -1
	}
	return 0
}

// launchesOf finds the calls of recordings that added nodes: launches, copies and memsets whose
// work did not run.
func (o *Owners) launchesOf(byPID map[string][]*recording) {
	for ref, c := range o.t.Calls.Refs() {
		list := byPID[o.t.Tracks[c.Track].PID]
		at, _ := slices.BinarySearchFunc(list, c.Start, func(r *recording, ns int64) int { return cmp.Compare(r.end, ns) })
		if at == len(list) || c.Start < list[at].start {
			continue
		}
		if _, ran := o.links.OfCall(ref); ran {
			continue
		}
		l := launch{call: c}
		switch classify.CallKind(o.t.Name(c.Name)) {
		case "launch":
			l.node = o.t.Name(c.Kernel)
		case "copy":
			l.node = copyNode
		case "memset":
			l.node = fillNode
		default:
			continue
		}
		list[at].launches = append(list[at].launches, l)
	}
	for _, list := range byPID {
		for _, r := range list {
			slices.SortStableFunc(r.launches, func(a, b launch) int { return cmp.Compare(a.call.Start, b.call.Start) })
		}
	}
}

// captureName returns the innermost annotation around a call that states the size of a capture,
// or "".
func (o *Owners) captureName(c *trace.Call) string {
	name, start := "", int64(0)
	for s := range o.t.Spans.All() {
		if s.Track == c.Track && s.Start <= c.Start && s.Start+s.Dur > c.Start && (name == "" || s.Start > start) {
			if text := o.t.Name(s.Name); captureSize(text) > 0 {
				name, start = text, s.Start
			}
		}
	}
	return name
}

// sizeIn returns the number at the start of a text, or 0.
func sizeIn(text string) int64 {
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(text[:end], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
