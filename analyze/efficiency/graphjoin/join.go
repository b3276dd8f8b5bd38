// Package graphjoin gives the time of CUDA graph replays to the operators of their captures, which may be in another
// input. It sees a summary only: the rows of replays and captures that package efficiency made.
package graphjoin

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"assay/analyze/efficiency"
	"assay/analyze/efficiency/hardware"
	"assay/analyze/efficiency/operators"
	"assay/summary"
)

// maxOverlap is the largest share of a graph's time during which nodes overlap for which times of
// single nodes are meaningful. On some GPUs, consecutive kernels overlap slightly.
const maxOverlap = 0.01

// Replays attributes the time of graph replays to the operators of their captures, which may be
// in another input of the summary. Each replay states what it matched. Replays removes the
// captures and the times of nodes from the summary.
func Replays(s *summary.Summary) {
	e := &s.Efficiency
	j := joiner{e: e, captures: map[string][]*summary.EfficiencyCapture{}, made: map[madeBy]*summary.EfficiencyCapture{}, found: map[replayOf]*matched{}}
	over := efficiency.CountOver(e)
	for i := range e.Captures {
		c := &e.Captures[i]
		if c.Made {
			if key := (madeBy{c.Input, c.Rank, c.Number}); j.made[key] == nil {
				j.made[key] = c
			}
			continue
		}
		j.captures[c.Kernels] = append(j.captures[c.Kernels], c)
		j.incomplete = j.incomplete || c.Incomplete
	}
	before := len(e.Rows)
	for i := range e.Replays {
		r := &e.Replays[i]
		if r.From != "" || r.Unmatched != "" {
			continue // joined before, or without what a join needs
		}
		r.From, r.Unmatched = j.join(r)
	}
	j.steps()
	for i := range e.Replays {
		e.Replays[i].NodeNS, e.Replays[i].Made = nil, 0
	}
	efficiency.NoteMoreOver(s, efficiency.CountOver(e)-over)
	e.Captures = nil
	if j.changed {
		e.Rows = slices.DeleteFunc(e.Rows, func(r summary.EfficiencyRow) bool {
			return r.GPUNS == 0 && r.Unknown == operators.GraphReplay.String()
		})
	}
	if j.changed || len(e.Rows) != before {
		s.Sort()
	}
}

// A joiner has the captures by digest of their kernels.
type joiner struct {
	e          *summary.Efficiency
	captures   map[string][]*summary.EfficiencyCapture
	made       map[madeBy]*summary.EfficiencyCapture
	incomplete bool
	changed    bool
	found      map[replayOf]*matched
}

// A madeBy identifies a capture that was found by the nodes of a replay.
type madeBy struct{ input, rank, number int }

// A replayOf identifies a replay.
type replayOf struct {
	input, rank int
	device      int64
	number      int
}

// A matched is a replay with its capture.
type matched struct {
	capture *summary.EfficiencyCapture
	replay  *summary.EfficiencyReplay
}

// join attributes the time of one replay to the operators of its capture, or returns why it cannot.
func (j *joiner) join(r *summary.EfficiencyReplay) (from, unmatched string) {
	from, c := summary.FromNodes, j.ofNodes(r)
	if c == nil {
		from = summary.FromCapture
		c, unmatched = j.find(r)
	}
	switch {
	case c == nil && len(r.NodesLost) > 0:
		return "", r.NodesLost[0].Reason
	case c == nil:
		return "", unmatched
	case float64(r.OverlapNS) > maxOverlap*float64(r.GPUNS):
		return "", summary.NodesOverlap
	}
	d := j.device(r)
	time := &d.NoOperatorNS
	if r.Op != "" {
		row := j.row(func(o *summary.EfficiencyRow) bool { return o.From == "" && o.Unknown != "" && ofReplay(o, r) })
		if row == nil {
			return "", summary.ReplayOfManyRows
		}
		time = &row.GPUNS
	}
	times, known := timesOf(c, r.NodeNS)
	if *time < known { // possible in a summary that was read from a file
		return "", summary.ReplayOfManyRows
	}
	r.Capture, r.KnownNS = c.Name, known
	j.found[replayOf{r.Input, r.Rank, r.Device, r.Number}] = &matched{c, r}
	*time -= r.KnownNS
	d.GraphNS -= min(r.KnownNS, d.GraphNS)
	for i := range c.Rows {
		j.add(d, r, c.Rows[i], times[i])
	}
	j.changed = true
	return from, ""
}

// ofNodes returns the capture that was found by the nodes of a replay, if it has an operator.
func (j *joiner) ofNodes(r *summary.EfficiencyReplay) *summary.EfficiencyCapture {
	c := j.made[madeBy{r.Input, r.Rank, r.Made}]
	if r.Made == 0 || c == nil || len(c.Rows) == 0 || c.Nodes != r.Nodes || int64(len(r.NodeNS)) != r.Nodes || !usable(c) {
		return nil
	}
	return c
}

func ofReplay(o *summary.EfficiencyRow, r *summary.EfficiencyReplay) bool {
	return o.Input == r.Input && o.Rank == r.Rank && o.Device == r.Device && o.Op == r.Op && same(o.Dims, r.Dims) && same(o.Types, r.Types)
}

func same(a, b json.RawMessage) bool { return bytes.Equal(a, b) }

// device returns the GPU of a replay.
func (j *joiner) device(r *summary.EfficiencyReplay) *summary.EfficiencyDevice {
	at := slices.IndexFunc(j.e.Devices, func(d summary.EfficiencyDevice) bool {
		return d.Input == r.Input && d.Rank == r.Rank && d.Device == r.Device
	})
	if at < 0 {
		return new(summary.EfficiencyDevice)
	}
	return &j.e.Devices[at]
}

// row returns the first row for which is returns true, or nil.
func (j *joiner) row(is func(*summary.EfficiencyRow) bool) *summary.EfficiencyRow {
	for i := range j.e.Rows {
		if is(&j.e.Rows[i]) {
			return &j.e.Rows[i]
		}
	}
	return nil
}

// find returns the capture of a replay, or why it cannot be determined with certainty.
//
// Kernels must be equal in number, names and order. That is not enough, because graphs for other
// batch sizes may run the same kernels. So the annotations around capture and replay must state the
// same size, even within one input: the graph may have been captured before recording began. If
// several captures match, they must agree about operators and arguments.
func (j *joiner) find(r *summary.EfficiencyReplay) (found *summary.EfficiencyCapture, unmatched string) {
	unmatched = summary.NoCapture
	if len(j.captures[""]) > 0 {
		unmatched = summary.CaptureNoNames
	}
	if j.incomplete {
		return nil, summary.TooManyCaptures
	}
	if r.Kernels == "" || int64(len(r.NodeNS)) != r.Nodes {
		return nil, unmatched
	}
	for _, c := range j.captures[r.Kernels] {
		if c.Nodes != r.Nodes || !usable(c) {
			continue
		}
		if r.Size == 0 || r.Size != c.Size {
			unmatched = summary.CaptureSize
			continue
		}
		if found != nil && (!reflect.DeepEqual(found.Rows, c.Rows) || !slices.Equal(found.Of, c.Of) || !reflect.DeepEqual(found.Decode, c.Decode)) {
			return nil, summary.CapturesDiffer
		}
		found = c
	}
	return found, unmatched
}

// usable reports whether a capture, which may be from a file, has a row for each node.
func usable(c *summary.EfficiencyCapture) bool {
	return int64(len(c.Of)) == c.Nodes && !slices.ContainsFunc(c.Of, func(at int32) bool { return at < -1 || int(at) >= len(c.Rows) })
}

// add adds the launches of a replay to the row of an operator.
func (j *joiner) add(d *summary.EfficiencyDevice, r *summary.EfficiencyReplay, c summary.EfficiencyRow, ns int64) {
	c.Input, c.Rank, c.Device, c.From = r.Input, r.Rank, r.Device, summary.FromCapture
	c, model := launchesOf(c, r.Launches, ns)
	p := peaksOf(d)
	of := totalsOf(&c)
	count(&d.EfficiencySums, &c, model, p, of)
	row := j.row(func(o *summary.EfficiencyRow) bool {
		return o.From == c.From && o.Input == c.Input && o.Rank == c.Rank && o.Device == c.Device && o.Op == c.Op && same(o.Dims, c.Dims) && same(o.Types, c.Types)
	})
	if row == nil {
		efficiency.Rate(&c, p, of)
		j.e.Rows = append(j.e.Rows, c)
		return
	}
	merge(row, &c, model)
	efficiency.Rate(row, p, totalsOf(row))
}

// merge adds calls of an operator with the same arguments to its row. model are their FLOPs
// without recomputation.
func merge(row, c *summary.EfficiencyRow, model *int64) {
	of := row.FLOPs
	if row.Model != nil {
		of = row.Model
	}
	row.Model = summary.PlusOrNull(of, model)
	row.Count, row.GPUNS = summary.Plus(row.Count, c.Count), summary.Plus(row.GPUNS, c.GPUNS)
	row.FLOPs, row.Bytes = summary.PlusOrNull(row.FLOPs, c.FLOPs), summary.PlusOrNull(row.Bytes, c.Bytes)
	if row.Model != nil && row.FLOPs != nil && *row.Model == *row.FLOPs {
		row.Model = nil
	}
	if row.BytesIs == "exact" {
		row.BytesIs = c.BytesIs
	}
	if row.Bytes == nil {
		row.BytesIs = ""
	}
	if row.Unknown == "" {
		row.Unknown = c.Unknown
	}
	if row.Unknown == "" && (row.FLOPs == nil || row.Bytes == nil) {
		row.Unknown = operators.TooLarge.String()
	}
}

// count adds the launches of an operator to the sums of the GPU or of a step. model are its
// FLOPs without recomputation.
func count(d *summary.EfficiencySums, c *summary.EfficiencyRow, model *int64, p *hardware.Peaks, of hardware.Totals) {
	if c.FLOPs != nil {
		d.FLOPsKnownNS = summary.Plus(d.FLOPsKnownNS, c.GPUNS)
	}
	if c.Bytes != nil {
		d.BytesKnownNS = summary.Plus(d.BytesKnownNS, c.GPUNS)
	}
	if roof, ok := efficiency.RooflineOf(p, of, c.GPUNS); ok {
		d.RooflineNS, d.RecoverableNS = summary.Plus(d.RooflineNS, roof.NS), summary.Plus(d.RecoverableNS, roof.Recoverable(c.GPUNS))
	}
	if of.Unit != operators.Matrix {
		return
	}
	d.MatrixNS = summary.Plus(d.MatrixNS, c.GPUNS)
	if c.FLOPs == nil || model == nil {
		return
	}
	d.MatrixFLOPs = d.MatrixFLOPs.Plus(*c.FLOPs)
	if d.MFUFrom == summary.MFUOver {
		return
	}
	d.HFU = raise(d.HFU, p, of.Peak, *c.FLOPs, d.WallNS)
	if d.MFUFrom == "" {
		d.ModelFLOPs = d.ModelFLOPs.Plus(*model)
		d.MFU = raise(d.MFU, p, of.Peak, *model, d.WallNS)
	}
	if efficiency.More(d.HFU) {
		d.MFU, d.HFU, d.MFUFrom = nil, nil, summary.MFUOver
	}
}

// raise adds FLOPs of a type to a share of the peak. It returns nil if the share is unknown.
func raise(share *float64, p *hardware.Peaks, peak hardware.Figure, flops, wall int64) *float64 {
	if !p.Known(peak) || wall <= 0 {
		return share
	}
	v := float64(flops) / p.Figures[peak] / 1e3 / float64(wall)
	if share != nil {
		v += *share
	}
	return &v
}

// peaksOf returns the peaks that the row of a GPU states.
func peaksOf(d *summary.EfficiencyDevice) *hardware.Peaks {
	p := &hardware.Peaks{Cache: float64(d.CacheBytes)}
	for name, v := range d.PeakTFLOPS {
		if f := hardware.FigureOf(name); f != hardware.NoFigure {
			p.Figures[f] = v
		}
	}
	if d.HBMGBPS != nil {
		p.Figures[hardware.HBM] = *d.HBMGBPS
	}
	return p
}

// totalsOf returns the totals by which a row is compared with the peaks.
func totalsOf(c *summary.EfficiencyRow) hardware.Totals {
	of := hardware.Totals{Peak: hardware.FP32, Lane: hardware.HBM, Calls: c.Count, FLOPs: countOf(c.FLOPs), Bytes: countOf(c.Bytes)}
	for _, u := range []operators.Unit{operators.Matrix, operators.Vector, operators.None} {
		if efficiency.UnitName(u) == c.Unit {
			of.Unit = u
		}
	}
	if of.Unit == operators.Matrix {
		of.Peak = hardware.FigureOf(c.Dtype)
	}
	return of
}

func countOf(n *int64) operators.Count {
	if n == nil {
		return operators.Count{Why: operators.GraphReplay}
	}
	return operators.Count{N: *n}
}
