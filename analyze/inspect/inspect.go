// Package inspect answers questions about single events of a trace: the instances of a kernel or an
// operator, the causes of a gap, the state at one moment. It combines the measurements of package
// attribute and others, and adds no measurement of its own.
//
// Start with inspect.go (Capture, New). Each kind of question has a file: kernels.go, ops.go, gaps.go
// and moment.go. The answers are plain data, in data.go and answer.go; [JoinKernels] and [JoinOps]
// join those of several inputs. Package report/inspection prints them.
package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"assay/analyze"
	"assay/analyze/attribute"
	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/analyze/steps"
	"assay/internal/diag"
	"assay/internal/label"
	"assay/summary"
	"assay/trace"
)

// An Input says where a trace comes from.
type Input struct {
	Index int // as in summary.GPU
	Rank  int
}

// A Capture is a trace that is ready for questions.
type Capture struct {
	in    Input
	whole *trace.Trace // all of the capture
	t     *trace.Trace // the part that questions are about
	tl    *gpu.Timeline
	start int64 // of the capture
	opt   analyze.Options
	ranks map[int64]int  // of the GPUs of processes that are ranks
	gpus  map[int64]bool // of one of these processes; nil for all

	stepRows []summary.Step // of the whole capture; nil until computed
}

// New prepares a trace for questions about part, which is a window of t or t itself.
func New(t, part *trace.Trace, in Input, opt analyze.Options) *Capture {
	var unused diag.Ledger // the summary has the issues
	c := &Capture{in: in, whole: t, t: part, start: analyze.Extent(t).Start, opt: opt}
	c.tl = gpu.NewTimeline(c.t, opt.Rules, &unused)
	if faults := c.tl.Faults(); !faults.None() {
		c.t = gpu.Mend(c.t, faults)
		c.tl = gpu.NewTimeline(c.t, opt.Rules, &unused)
	}
	return c
}

// Rank returns the rank of the capture.
func (c *Capture) Rank() int { return c.in.Rank }

// Devices returns the ordinals of the GPUs that have work.
func (c *Capture) Devices() (out []int64) {
	for _, d := range c.tl.Devices {
		out = append(out, d.Ordinal)
	}
	return out
}

// Only restricts the capture to one GPU, and reports whether it exists.
func (c *Capture) Only(device int64) bool {
	c.tl.Devices = slices.DeleteFunc(c.tl.Devices, func(d *gpu.Device) bool { return d.Ordinal != device })
	return len(c.tl.Devices) > 0
}

// place returns the place of a device. A trace of several ranks states the rank of each device.
func (c *Capture) gpu(device int64) summary.GPU {
	rank, ok := c.ranks[device]
	if !ok {
		rank, ok = c.t.Meta.DeviceRanks[device]
	}
	if !ok {
		rank = c.in.Rank
	}
	return summary.GPU{Input: c.in.Index, Rank: rank, Device: device}
}

// attribution attributes the work of the part.
func (c *Capture) attribution(h *attribute.Host) *attribute.Attribution {
	var unused diag.Ledger
	return attribute.Work(c.tl, h, steps.MarksOf(steps.NewVocabulary(c.t, c.opt.Phases), &unused),
		attribute.Options{Rows: limits.MaxRows})
}

// step returns the step that a device is in, or nil.
func (c *Capture) step(device, at int64) *Step {
	if c.stepRows == nil {
		c.stepRows = append([]summary.Step{}, analyze.Steps(c.whole, c.in.Rank, c.opt)...)
		slices.SortStableFunc(c.stepRows, func(a, b summary.Step) int {
			return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.StartNS, b.StartNS))
		})
	}
	i := sort.Search(len(c.stepRows), func(i int) bool {
		s := &c.stepRows[i]
		return s.Device > device || s.Device == device && s.StartNS+s.WallNS > at
	})
	if i < len(c.stepRows) && c.stepRows[i].Device == device && c.stepRows[i].StartNS <= at {
		return &Step{c.stepRows[i].Number, c.stepRows[i].Name}
	}
	return nil
}

// thread returns the name of a track of the host.
func (c *Capture) thread(id trace.TrackID) string {
	track := &c.t.Tracks[id]
	name := "thread " + track.TID
	if track.Thread != "" {
		name = track.Thread
		if !strings.Contains(name, track.TID) {
			name += " (" + track.TID + ")"
		}
	}
	return name
}

// launch describes the call that launched an operation.
func (c *Capture) launch(call *trace.Call, work *trace.Activity) *Launch {
	if call == nil {
		return nil
	}
	return &Launch{
		Call: c.t.Name(call.Name), Thread: c.thread(call.Track), AtNS: c.since(call.Start), NS: call.Dur,
		DelayNS: max(0, work.Start-call.Start), QueueNS: max(0, work.Start-call.Start-call.Dur),
	}
}

// siteOf converts a site of an attribution.
func siteOf(s attribute.Site) Site {
	out := Site{Op: s.Op, Module: s.Module, Range: s.Range, Pass: s.Pass}
	if out.Pass == "other" {
		out.Pass = "" // there is no training, or the pass is unknown
	}
	for _, f := range s.Lines {
		out.Stack = append(out.Stack, Frame{f.Name, f.File, f.Line})
	}
	return out
}

// key returns a text that is equal for equal sites.
func (s *Site) key() string {
	return fmt.Sprint(s.Op, "\x00", s.Module, "\x00", s.Range, "\x00", s.Pass, "\x00", s.Stack, s.Unknown)
}

// A siteTable sums work by launch site.
type siteTable struct {
	a    *attribute.Attribution
	rows map[attribute.SiteID]*Site
	none Site // launches that were not recorded
}

func newSiteTable(a *attribute.Attribution) *siteTable {
	return &siteTable{a: a, rows: make(map[attribute.SiteID]*Site), none: Site{Unknown: true}}
}

func (t *siteTable) add(number int, ns int64) {
	r := &t.none
	if id, ok := t.a.SiteID(number); ok {
		if r = t.rows[id]; r == nil {
			s := siteOf(t.a.Site(id))
			r = &s
			t.rows[id] = r
		}
	}
	r.Count++
	r.TotalNS = summary.Plus(r.TotalNS, ns)
}

// sites returns the rows, with sites that look the same joined.
func (t *siteTable) sites() []Site {
	all := []Site{t.none}
	for _, r := range t.rows {
		all = append(all, *r)
	}
	return joinSites(all)
}

// joinSites sums sites that look the same, and sorts by descending total.
func joinSites(all []Site) []Site {
	by := make(map[string]*Site)
	for _, s := range all {
		if s.Count == 0 {
			continue
		}
		if have := by[s.key()]; have != nil {
			have.Count += s.Count
			have.TotalNS = summary.Plus(have.TotalNS, s.TotalNS)
			continue
		}
		by[s.key()] = &s
	}
	keys := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b].TotalNS, by[a].TotalNS), cmp.Compare(by[b].Count, by[a].Count), cmp.Compare(a, b))
	})
	out := make([]Site, 0, len(keys))
	for _, k := range keys {
		out = append(out, *by[k])
	}
	return out
}

// cut returns the first top rows, and the number of the others.
func cut[T any](rows []T, top int) (kept []T, left int) {
	if len(rows) <= top {
		return rows, 0
	}
	return rows[:top:top], len(rows) - top
}

// A finder matches names of a trace with a pattern, and caches the results.
type finder struct {
	t       *trace.Trace
	pattern string
	known   []int8 // by name: 1 for a match, -1 for none, 0 until computed
}

// exactly makes the finder find operators of the very name only, if there are any, and returns
// how many other names of operators the pattern between two "*" finds. A pattern with "*" stays.
func (f *finder) exactly() (exact bool, others int) {
	if strings.ContainsAny(f.pattern, "*"+label.Ellipsis) {
		return false, 0
	}
	var same []trace.Sym
	seen := make([]bool, f.t.Names())
	for o := range f.t.Ops.All() {
		if seen[o.Name] {
			continue
		}
		seen[o.Name] = true
		name := f.t.Name(o.Name)
		if _, last, ok := strings.Cut(name, "::"); strings.EqualFold(name, f.pattern) || ok &&
			strings.EqualFold(last, f.pattern) {
			same = append(same, o.Name)
		} else if label.Finds("*"+f.pattern+"*", name) {
			others++
		}
	}
	if len(same) == 0 {
		return false, 0
	}
	for i := range f.known {
		f.known[i] = -1
	}
	for _, s := range same {
		f.known[s] = 1
	}
	return true, others
}

func newFinder(t *trace.Trace, pattern string) *finder {
	return &finder{t, pattern, make([]int8, t.Names())}
}

func (f *finder) has(s trace.Sym) bool {
	if f.known[s] == 0 {
		f.known[s] = -1
		if label.Finds(f.pattern, f.t.Name(s)) {
			f.known[s] = 1
		}
	}
	return f.known[s] > 0
}
