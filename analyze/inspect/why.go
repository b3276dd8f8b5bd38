package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/analyze/attribute"
	"assay/analyze/critical"
	"assay/analyze/gpu"
	"assay/analyze/whatif"
	"assay/summary"
)

// A Why says why a GPU operation did not start earlier. Times since the start of the capture are on the
// clock of its rank, also those of other ranks.
type Why struct {
	Start   Instance `json:"start"`
	Matches int64    `json:"matches,omitempty"` // how many match; it is the longest

	Path    string   `json:"path,omitempty"`    // the step in whose critical path it would be
	OnPath  bool     `json:"on_path,omitempty"` // it is part of that path
	Verdict string   `json:"verdict"`
	Reasons []string `json:"reasons"`

	Causes []Waited `json:"causes,omitempty"` // the one that bound first
	Chain  []Link   `json:"chain,omitempty"`  // latest first
	Ends   string   `json:"ends,omitempty"`   // why the chain goes no further back
}

// A Waited is one thing that had to come first.
type Waited struct {
	Kind     string `json:"kind"`
	Inferred bool   `json:"inferred,omitempty"`
	Rank     int    `json:"rank"`
	Lane     string `json:"lane,omitempty"` // the stream or thread that was waited for
	Name     string `json:"name,omitempty"`
	Op       string `json:"op,omitempty"`

	AtNS          int64 `json:"at_ns"` // when it allowed the start
	DelayNS       int64 `json:"delay_ns"`
	TypicalNS     int64 `json:"typical_ns"`
	SpareNS       int64 `json:"spare_ns"` // how much later it could have come
	Bound         bool  `json:"bound,omitempty"`
	UnexplainedNS int64 `json:"unexplained_ns,omitempty"`
}

// A Link is a run of activities of one stream or thread, and what the first of them waited for.
type Link struct {
	Rank  int                `json:"rank"`
	Lane  string             `json:"lane"`
	AtNS  int64              `json:"at_ns"`
	NS    int64              `json:"ns"` // until it allowed what came next
	Count int                `json:"count"`
	Names []summary.PathPart `json:"names,omitempty"` // most time first

	Waited *Waited `json:"waited_for,omitempty"`
	Next   *Waited `json:"next,omitempty"` // what would bind if that came earlier
}

// The ends of a chain.
const (
	EndStep        = "step"        // the step begins
	EndTrace       = "trace"       // nothing before it is recorded
	EndUnexplained = "unexplained" // nothing in the trace explains the wait
	EndArrival     = "arrival"     // the batch came from another process
	EndMore        = "more"        // of the rows
)

// StartAt returns the GPU operation that runs at a time, the one that started last, or the next
// one if none runs. It returns nil if there is none.
func (c *Capture) StartAt(t int64) *Instance {
	var best *found
	for _, d := range c.tl.Devices {
		for _, w := range d.Work {
			k := found{c.tl.Activity(w), d.Ordinal, int(w.Number)}
			if k.End() <= t && k.Start < t || best != nil && !nearer(&k, best, t) {
				continue
			}
			best = &k
		}
	}
	if best == nil {
		return nil
	}
	h := attribute.HostOf(c.t)
	return &c.instances([]found{*best}, c.attribution(h), launchingOps(c.t, h.Links))[0]
}

// nearer reports whether a is before b in the order of StartAt: what runs, the latest first, then
// what comes, the earliest first.
func nearer(a, b *found, t int64) bool {
	runs := func(k *found) int64 {
		if k.Start <= t {
			return 0
		}
		return 1
	}
	since := func(k *found) int64 { return max(k.Start-t, t-k.Start) }
	return cmp.Or(cmp.Compare(runs(a), runs(b)), cmp.Compare(since(a), since(b))) < 0
}

// Processes returns the captures of the processes of a capture if these are the ranks of a job, and limits the capture to the GPUs
// of the ranks that are wanted. Else it returns the capture itself.
func (c *Capture) Processes(wants func(rank int) bool) (out []*Capture) {
	list := whatif.Processes(whatif.Input{Trace: c.whole, Rank: c.in.Rank}, whatif.Question{Rules: c.opt.Rules})
	if len(list) == 1 {
		return []*Capture{c}
	}
	c.ranks = make(map[int64]int)
	for _, in := range list {
		of := *c
		of.whole, of.in.Rank, of.gpus = in.Trace, in.Rank, in.Devices
		for d := range in.Devices {
			c.ranks[d] = in.Rank
		}
		out = append(out, &of)
	}
	c.tl.Devices = slices.DeleteFunc(c.tl.Devices, func(d *gpu.Device) bool { return !wants(c.gpu(d.Ordinal).Rank) })
	return out
}

// Explain returns why an operation of one of the captures, which are ordered by rank, started when
// it did. The chain has at most top links.
func Explain(captures []*Capture, start Instance, top int) (*Why, error) {
	first := captures[0]
	inputs := make([]whatif.Input, len(captures))
	for i, c := range captures {
		inputs[i] = whatif.Input{Trace: c.whole, Index: c.in.Index, Rank: c.in.Rank, Devices: c.gpus}
	}
	groups, _ := whatif.Graphs(inputs, whatif.Question{Rules: first.opt.Rules, Phases: first.opt.Phases})
	at := 0
	for _, g := range groups {
		for i, in := range g.Inputs {
			if in.Index == start.Input && (in.Devices == nil || in.Devices[start.Device]) {
				e := explaining{critical.Starts{Program: g.Program}, captures[at-i : at-i+len(g.Inputs)], i}
				return e.why(start, top)
			}
			at++
		}
	}
	return nil, errors.New("the capture of the operation is not among the inputs")
}

// An explaining has a graph and the captures of its ranks, one of which has the start.
type explaining struct {
	critical.Starts
	captures []*Capture
	input    int
}

// since converts a time of the graph.
func (e *explaining) since(t int64) int64 { return e.captures[e.input].since(t + e.Offset(e.input)) }

func (e *explaining) why(start Instance, top int) (*Why, error) {
	v, ok := e.Find(e.input, start.Device, start.Stream, start.StartNS, start.Name)
	if !ok {
		return nil, fmt.Errorf("nothing is known of why the operation at %d ns started, because its times cannot be true", start.StartNS)
	}
	paths := e.Paths()
	p, verdict := e.StepOf(paths, v)
	w := &Why{Start: start}
	since := int64(math.MinInt64)
	if p != nil {
		w.Path, w.OnPath, since = strings.Clone(p.Step), e.On(p, v), p.Window.Start
	}
	if !e.Place(v).Launched {
		verdict.Add(critical.Warn, "its launch call is not in the trace")
	}
	w.Verdict, w.Reasons = verdict.Level.String(), append([]string{}, verdict.Reasons...)
	if verdict.Level == critical.Abstain {
		return w, nil
	}
	causes := e.Causes(v)
	w.Causes = e.waited(v, causes)
	bound := critical.Bound(causes)
	chain := e.Chain(bound, top, since)
	for i := range chain {
		w.Chain = append(w.Chain, e.link(&chain[i]))
	}
	last := bound
	if len(chain) > 0 {
		last = critical.Bound(chain[len(chain)-1].Causes)
	}
	switch l := len(chain) - 1; {
	case last != nil && last.Unexplained > 0:
		w.Ends = EndUnexplained
	case last == nil:
		w.Ends = EndTrace
	case last.Kind == "arrival":
		w.Ends = EndArrival
	case l >= 0 && p != nil && chain[l].Span.Start <= since:
		w.Ends = EndStep
		w.Chain[l].Waited, w.Chain[l].Next = nil, nil // the step before has its causes
	default:
		w.Ends = EndMore
	}
	return w, nil
}

// lane returns the name of a stream or thread.
func (e *explaining) lane(p critical.Place) string {
	c := e.captures[p.Input]
	track := &c.whole.Tracks[p.Track]
	if p.GPU {
		return fmt.Sprintf("GPU %d stream %d", track.Device, track.Stream)
	}
	return "CPU " + c.thread(p.Track)
}

// waited describes what a node waited for: the cause that bound first, then those that could have
// come later by the least.
func (e *explaining) waited(v int32, causes []critical.Cause) []Waited {
	out := make([]Waited, 0, len(causes))
	for _, x := range causes {
		row := Waited{Kind: x.Kind, Inferred: x.Inferred, Rank: e.Place(v).Rank, AtNS: e.since(x.Ready), DelayNS: x.Delay, TypicalNS: x.Typical,
			SpareNS: x.Spare, Bound: x.Binds, UnexplainedNS: x.Unexplained}
		if x.Source >= 0 {
			p := e.Place(x.Source)
			row.Rank, row.Lane, row.Name, row.Op = p.Rank, e.lane(p), p.Name, p.Operator
			if row.Op == row.Name {
				row.Op = ""
			}
		}
		out = append(out, row)
	}
	slices.SortStableFunc(out, func(a, b Waited) int {
		if a.Bound != b.Bound {
			if a.Bound {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.SpareNS, b.SpareNS)
	})
	return slices.Compact(out)
}

// linkNames is the number of names of a link.
const linkNames = 3

func (e *explaining) link(l *critical.Link) Link {
	p := e.Place(l.First)
	out := Link{Rank: p.Rank, Lane: e.lane(p), AtNS: e.since(l.Span.Start), NS: l.Span.Len(), Count: l.Nodes}
	for _, name := range slices.SortedFunc(maps.Keys(l.Names), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.Names[b], l.Names[a]), cmp.Compare(a, b))
	}) {
		if len(out.Names) < linkNames {
			out.Names = append(out.Names, summary.PathPart{Name: strings.Clone(name), NS: l.Names[name]})
		}
	}
	if len(out.Names) == 0 {
		out.Names = []summary.PathPart{{Name: strings.Clone(e.Place(l.Last).Name)}}
	}
	list := e.waited(l.First, l.Causes)
	if len(list) > 0 && list[0].Bound {
		out.Waited, list = &list[0], list[1:]
	}
	if len(list) > 0 {
		out.Next = &list[0]
	}
	return out
}
