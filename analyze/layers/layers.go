// Package layers finds the layers of a model in the work of a GPU, from the order of kernels: also where no operator and no module is
// recorded, as in replays of CUDA graphs.
//
// A layer has one core: attention, or what takes its place. What is between two cores is the end of one layer and the
// beginning of the next. The gaps between cores repeat, so the package compares them with what is before the first core of
// a model and behind the last one, and so learns where layers begin: see boundary.go.
//
// Start with Of in this file. sequence.go makes the sequence of kernels, roles.go says what each does, find.go
// finds the layers, modules.go does so by modules, kinds.go sorts them by their content, parts.go divides their time, rows.go makes the rows.
package layers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/analyze/gpu"
	"assay/analyze/launches"
	"assay/analyze/limits"
	"assay/analyze/steps"
	"assay/internal/diag"
	"assay/summary"
	"assay/trace"
)

// The numbers of steps of a device whose layers are looked for. More steps say the same.
const (
	maxSteps = 64
	// fewSteps is the number for each kind of steps if only the typical step is wanted.
	fewSteps = 6
)

// Measured is what Of needs of a trace.
type Measured struct {
	Timeline *gpu.Timeline
	Links    *launches.Links
	Marks    []steps.Mark
	Steps    []summary.Step          // the rows of the summary
	Pass     func(number int) string // of the work of a number: forward, backward, recompute, or another word
	Few      bool                    // look at few steps of each kind: enough to know the typical one
	Module   func(number int) uint32 // its modules, as a number; nil to look at kernels only
	// Named returns the name of the innermost of these modules, and the number of those that it is in, or 0.
	Named func(module uint32) (name string, outer uint32)

	// Least returns the number of the call that launched some work, and the least time of all work of this call:
	// false if it is not known. It may be nil.
	Least func(device *gpu.Device, work gpu.Work) (call int32, least summary.PartFloor, ok bool)

	// Each receives each row, and what returns the kernels of its i-th layer. It may be nil.
	Each func(row *summary.Layer, kernels func(i int) []summary.LayerKernel)
}

// Of returns the rows of the layers of all devices.
func Of(m Measured, rank int, issues *diag.Ledger) (out []summary.Layer) {
	tl := m.Timeline
	of := natures(tl.Trace, tl.Classes)
	left := int64(0)
	for _, d := range tl.Devices {
		if limits.Implausible(d.Window) {
			continue
		}
		names, ofWork, omitted := m.stepsOf(d)
		left += omitted
		s := sequenceOf(tl, d, of, ofWork)
		m.tellPasses(d, s.kernels)
		f := newFinder(s.kernels)
		r := &measurer{Measured: m, device: d, rank: rank, names: names, sequence: s, finder: f, natures: of, streams: parallel(s.kernels)}
		rows := r.rows(joined(r.moduleLayers(), f.find()))
		out = append(out, rows...)
		left += r.omitted
		if r.mixed || f.alternates && len(rows) == 0 {
			issues.Add(diag.Issue{Code: "layers-interleaved", Severity: diag.Info})
		}
	}
	if m.Few {
		return out
	}
	issues.AddN(diag.Issue{Code: "layers-of-steps-left-out", Severity: diag.Info,
		Help: fmt.Sprintf("Layers are found in %d steps of each GPU, evenly spread. The other steps have no rows of layers.", maxSteps)}, left)
	return out
}

// stepsOf returns the names of the steps of a device whose layers are looked for, the index of the step of each work
// (-1 without one), and the number of the steps that are left out. Work without any marked step is one step without a
// name.
func (m *Measured) stepsOf(d *gpu.Device) (names []string, ofWork []int32, omitted int64) {
	ofWork = make([]int32, len(d.Work))
	var rows []*summary.Step
	for i := range m.Steps {
		if m.Steps[i].Device == d.Ordinal {
			rows = append(rows, &m.Steps[i])
		}
	}
	slices.SortStableFunc(rows, func(a, b *summary.Step) int { return int(min(1, max(-1, a.StartNS-b.StartNS))) })
	if len(rows) == 0 {
		return []string{""}, ofWork, 0
	}
	kept := m.chosen(rows)
	for i := range rows {
		if kept[i] >= 0 {
			names = append(names, rows[i].Name)
		}
	}
	byMark := m.byMark(rows, kept)
	if linked := 0; byMark != nil {
		for _, w := range d.Work {
			if m.Links.Of[w.Number] >= 0 {
				linked++
			}
		}
		if 2*linked < len(d.Work) {
			byMark = nil
		}
	}
	last, mark := int32(-1), -1
	for i, w := range d.Work {
		switch link := m.Links.Of[w.Number]; {
		case byMark == nil:
			last = inRows(rows, kept, w.Start)
		case link >= 0:
			t := m.Links.Start(link)
			if mark < 0 || t < m.Marks[mark].Span.Start || t >= m.Marks[mark].Span.End {
				mark = steps.At(m.Marks, t)
			}
			if last = -1; mark >= 0 {
				last = byMark[mark]
			}
		}
		ofWork[i] = last // work without a launch belongs to the step of the work before it
	}
	return names, ofWork, int64(len(rows) - len(names))
}

// chosen returns, for each row, its number among those whose layers are looked for, or -1: evenly spread over those of each kind.
func (m *Measured) chosen(rows []*summary.Step) []int32 {
	total := make(map[string]int)
	for _, r := range rows {
		total[r.Kind]++
	}
	kinds, most, left := slices.Collect(maps.Keys(total)), make(map[string]int), maxSteps
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(total[a]-total[b], strings.Compare(a, b)) })
	for i, kind := range kinds { // what rare kinds do not need is for the others
		most[kind] = min(total[kind], max(1, left/(len(kinds)-i)))
		left -= most[kind]
		if m.Few {
			most[kind] = min(most[kind], fewSteps)
		}
	}
	kept, seen, count := make([]int32, len(rows)), make(map[string]int), int32(0)
	for i, r := range rows {
		at, all, n := seen[r.Kind], total[r.Kind], most[r.Kind]
		seen[r.Kind]++
		kept[i] = -1
		if at == 0 || at*n/all != (at-1)*n/all { // the first of its n-th part
			kept[i] = count
			count++
		}
	}
	return kept
}

// byMark returns, for each marker, the index of the step that it marks, or -1; nil if rows and markers do not match.
func (m *Measured) byMark(rows []*summary.Step, kept []int32) []int32 {
	out := make([]int32, len(m.Marks))
	at := 0
	for i, mark := range m.Marks {
		out[i] = -1
		if at == len(rows) || m.Timeline.Trace.Name(mark.Name) != rows[at].Name {
			continue
		}
		if r := rows[at]; r.StartNS == mark.Span.Start || r.Cut != "" && r.HostNS == mark.Span.Len() {
			out[i] = kept[at]
			at++
		}
	}
	if at < len(rows) {
		return nil
	}
	return out
}

// inRows returns the index of the step that runs at a time, or -1.
func inRows(rows []*summary.Step, kept []int32, at int64) int32 {
	i, found := slices.BinarySearchFunc(rows, at, func(r *summary.Step, t int64) int {
		switch {
		case r.StartNS+r.WallNS <= t:
			return -1
		case r.StartNS > t:
			return 1
		}
		return 0
	})
	if !found {
		return -1
	}
	return kept[i]
}

func (r *measurer) activity(k *kernel) *trace.Activity {
	return r.Timeline.Activity(r.device.Work[k.work])
}
