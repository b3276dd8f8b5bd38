package efficiency

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sort"

	"assay/analyze/efficiency/hardware"
	"assay/analyze/efficiency/operators"
	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/summary"
	"assay/trace"
)

// OtherOperators is the row of the operators over the limit of rows.
const OtherOperators = "(other operators)"

// Fill adds the tables of efficiency to a summary, which must have its steps. The table of operators
// has at most most rows.
func (o *Owners) Fill(s *summary.Summary, tl *gpu.Timeline, peaks hardware.Catalog, model hardware.ModelFLOPs, rank, most int) {
	if o == nil {
		return
	}
	out := &s.Efficiency
	seen := make([]bool, len(o.calls))
	sizes, notes := sizesOf(o.t), lengthsOf(o.t)
	out.Captures = o.captures(rank)
	o.makers = o.makersOf(len(out.Captures) + 1)
	taken := limits.NewBudget(most).Table()
	for _, d := range tl.Devices {
		m := o.measure(tl, d, seen, sizes, notes)
		p := peaks.Peaks(PropertiesOf(o.t, d.Ordinal))
		sums := newTallies(len(o.rows))
		for i := range m.spent {
			if call := &m.spent[i]; o.t.Window.Starts(call.start) {
				sums.add(call, o.works)
			}
		}
		r := rates{m, &p, model}
		device := deviceRow(o.t, d, rank, &p)
		device.EfficiencySums = r.sums(sums, d.Window.Len(), r.wholeSteps(s.Steps))
		out.Devices = append(out.Devices, device)
		if rows := r.rows(sums, rank, &taken); out.Rows == nil {
			out.Rows = rows
		} else {
			out.Rows = append(out.Rows, rows...)
		}
		out.Steps = append(out.Steps, r.steps(s.Steps, sums)...)
		out.Decode = append(out.Decode, r.decode(s.Steps)...)
		out.Transfers = append(out.Transfers, copies(tl, d, &p, rank)...)
		out.Replays = append(out.Replays, m.graphRows(rank)...)
	}
	out.Captures = append(out.Captures, o.makers.captures(rank)...)
}

// PropertiesOf returns the properties of a GPU that the trace states.
func PropertiesOf(t *trace.Trace, ordinal int64) hardware.Properties {
	p, ok := t.Meta.Hardware[ordinal]
	if !ok {
		p = t.Meta.Hardware[onlyOf(t.Meta.Hardware)]
	}
	return hardware.Properties{
		Name: gpu.DeviceName(t.Meta, ordinal), SMs: p.SMs, Memory: t.Meta.Capacity[ordinal], Major: int(p.Major), Minor: int(p.Minor),
		ClockHz: p.ClockHz, Bandwidth: p.Bandwidth, Cache: p.Cache, HalfRate: p.HalfRate, Source: sourceOf(t),
	}
}

// sourceOf returns the source of what a trace states about rates.
func sourceOf(t *trace.Trace) hardware.Source {
	if t.Meta.Tool == trace.ToolXLA {
		return hardware.FromTrace
	}
	return hardware.FromNsys
}

// onlyOf returns an ordinal if all devices are alike, or -1. ROCm numbers devices differently in its
// events and in its properties.
func onlyOf(all map[int64]trace.Hardware) int64 {
	first, only := trace.Hardware{}, int64(-1)
	for ordinal, p := range all {
		if only >= 0 && p != first {
			return -1
		}
		first, only = p, max(only, ordinal)
	}
	return only
}

// deviceRow returns the row of a GPU without sums.
func deviceRow(t *trace.Trace, d *gpu.Device, rank int, p *hardware.Peaks) summary.EfficiencyDevice {
	out := summary.EfficiencyDevice{
		Rank: rank, Device: d.Ordinal, Name: gpu.DeviceName(t.Meta, d.Ordinal), PeakSource: string(p.Source()),
		PeakOrigin: p.Origin, PeakNote: p.Note,
		HBMGBPS: known64(p, hardware.HBM), LinkGBPS: known64(p, hardware.Link), PCIeGBPS: known64(p, hardware.PCIe), C2CGBPS: known64(p, hardware.C2C),
	}
	if p.MHz > 0 {
		mhz := p.MHz
		out.PeakMHz = &mhz
	}
	if from := p.Sources[hardware.HBM]; from != p.Source() {
		out.HBMSource = string(from)
	}
	out.CacheBytes = int64(p.Cache)
	for f := range p.Figures {
		f := hardware.Figure(f)
		if !p.Known(f) {
			continue
		}
		if out.PeakSources == nil {
			out.PeakSources = make(map[string]string)
		}
		out.PeakSources[f.String()] = string(p.Sources[f])
		if f.IsRate() {
			if out.PeakTFLOPS == nil {
				out.PeakTFLOPS = make(map[string]float64)
			}
			out.PeakTFLOPS[f.String()] = p.Figures[f]
		}
	}
	return out
}

func known64(p *hardware.Peaks, f hardware.Figure) *float64 {
	if !p.Known(f) {
		return nil
	}
	v := p.Figures[f]
	return &v
}

// rates compares what a GPU did with its peaks.
type rates struct {
	*meter
	peaks *hardware.Peaks
	model hardware.ModelFLOPs // from the user, or zero
}

// totals returns the totals by which a row is compared with the peaks.
func (r rates) totals(row int32, t *tally) hardware.Totals {
	kernel := r.t.Name(r.longest[row].name)
	return hardware.Totals{Unit: t.unit, Peak: hardware.PeakType(t.unit, t.dtype, kernel), Lane: r.lane(row), Calls: t.count - t.untimed, FLOPs: t.flops, Bytes: t.bytes}
}

func (r rates) lane(row int32) hardware.Figure {
	if r.Owners.rows[row].link {
		return r.peaks.LaneOf(r.t.Name(r.longest[row].name))
	}
	return hardware.HBM
}

// RooflineOf returns the roofline of work that took ns. It returns false if the work exceeds a peak,
// because then the time cannot belong to it.
func RooflineOf(p *hardware.Peaks, of hardware.Totals, ns int64) (hardware.Roofline, bool) {
	if summary.IsOver(overNames[p.Excess(of, ns)]) {
		return hardware.Roofline{}, false
	}
	return p.Roofline(of, ns)
}

// sums returns the sums of all rows over wall ns with the given number of whole steps.
func (r rates) sums(t *tallies, wall, steps int64) summary.EfficiencySums {
	out := t.sums
	out.WallNS = wall
	var executed, model hardware.Tally
	for _, row := range t.touched {
		sum := &t.byRow[row]
		if sum.ns == 0 {
			continue
		}
		if sum.flops.Why == operators.Known {
			out.FLOPsKnownNS = summary.Plus(out.FLOPsKnownNS, sum.ns)
		}
		if sum.bytes.Why == operators.Known {
			out.BytesKnownNS = summary.Plus(out.BytesKnownNS, sum.ns)
		}
		of := r.totals(row, sum)
		if sum.unit == operators.Matrix {
			out.MatrixNS = summary.Plus(out.MatrixNS, sum.ns)
			if sum.flops.Why == operators.Known {
				out.MatrixFLOPs = out.MatrixFLOPs.Plus(sum.flops.N)
				out.ModelFLOPs = out.ModelFLOPs.Plus(sum.model.N)
				executed[of.Peak] = summary.Plus(executed[of.Peak], sum.flops.N)
				model[of.Peak] = summary.Plus(model[of.Peak], sum.model.N)
			}
		}
		if roof, ok := RooflineOf(r.peaks, of, sum.ns); ok {
			out.RooflineNS = summary.Plus(out.RooflineNS, roof.NS)
			out.RecoverableNS = summary.Plus(out.RecoverableNS, roof.Recoverable(sum.ns))
		}
	}
	if share, ok := r.peaks.Utilization(executed, wall); ok {
		out.HFU = &share
		part, _ := r.peaks.Utilization(model, wall) // 0 if all of it is recomputation
		out.MFU = &part
	}
	r.given(&out, steps, executed)
	if More(out.MFU) || More(out.HFU) && out.MFUFrom == "" {
		out.MFU, out.MFUFrom = nil, summary.MFUOver
	}
	if More(out.HFU) { // which says nothing of model FLOPs that the user gave
		out.HFU = nil
	}
	return out
}

// More reports whether a share is known and over 100%.
func More(share *float64) bool { return share != nil && *share > 1 }

// steps returns the sums of the steps of the GPU.
func (r rates) steps(all []summary.Step, sums *tallies) (out []summary.EfficiencyStep) {
	for i := range all {
		s := &all[i]
		if s.Device != r.d.Ordinal || s.Source == summary.SourceLog {
			continue
		}
		sums.reset()
		for at := sort.Search(len(r.spent), func(i int) bool { return r.spent[i].start >= s.StartNS }); at < len(r.spent) && r.spent[at].start < summary.Plus(s.StartNS, s.WallNS); at++ {
			sums.add(&r.spent[at], r.works)
		}
		if sums.sums.GPUNS > 0 {
			out = append(out, summary.EfficiencyStep{
				Rank: s.Rank, Device: s.Device, Name: s.Name, Number: s.Number, StartNS: s.StartNS,
				Replays: r.graphs.between(s.StartNS, summary.Plus(s.StartNS, s.WallNS)), EfficiencySums: r.sums(sums, s.WallNS, whole(s)),
			})
		}
	}
	return out
}

// rows returns the rows of the GPU. Rows over the limit are added up in one.
func (r rates) rows(t *tallies, rank int, taken *limits.Table) (out []summary.EfficiencyRow) {
	var pooled *summary.EfficiencyRow
	if len(t.touched) > 0 {
		const most = 4096 // initial capacity; the limit of rows may end the loop early
		out = make([]summary.EfficiencyRow, 0, min(len(t.touched)+1, most))
	}
	for _, row := range t.touched {
		id, sum := r.Owners.rows[row], &t.byRow[row]
		op, dims, types := r.t.Name(id.name), r.t.Name(id.dims), r.t.Name(id.types)
		if !taken.Take(len(op) + len(dims) + len(types)) {
			if pooled == nil {
				pooled = &summary.EfficiencyRow{Rank: rank, Device: r.d.Ordinal, Op: OtherOperators, Unknown: "too many rows"}
			}
			pooled.Count, pooled.GPUNS = pooled.Count+sum.count, summary.Plus(pooled.GPUNS, sum.ns)
			continue
		}
		of := r.totals(row, sum)
		out = append(out, summary.EfficiencyRow{
			Rank: rank, Device: r.d.Ordinal, Op: op, Dims: recorded(dims), Types: recorded(types),
			Unit: UnitName(sum.unit), Dtype: figureName(of), Kernel: r.t.Name(r.longest[row].name),
			Count: sum.count, Untimed: sum.untimed, GPUNS: sum.ns, OverlapNS: sum.overlap,
		})
		if id.stated != "" {
			out[len(out)-1].From = summary.FromCompiler
		}
		if one := &r.single[row]; one.name != 0 && !one.several {
			out[len(out)-1].Grid, out[len(out)-1].Block = &one.grid, &one.block
		}
		r.fill(&out[len(out)-1], sum, of)
	}
	if pooled != nil {
		out = append(out, *pooled)
	}
	return out
}

// fill sets the work of a row, as far as it is known.
func (r rates) fill(row *summary.EfficiencyRow, t *tally, of hardware.Totals) {
	if row.GPUNS == 0 {
		row.Unknown = "no duration"
		return
	}
	row.FLOPs, row.Bytes = number(t.flops), number(t.bytes)
	row.FLOPsMin, row.FLOPsMax = ends(t.flops)
	row.BytesMin, row.BytesMax = ends(t.bytes)
	if row.FLOPs != nil && t.model.N != t.flops.N {
		row.Model = number(t.model)
	}
	state(row, t)
	Rate(row, r.peaks, of)
}

// state sets whether the FLOPs and bytes of a row are exact, estimated or bounds.
func state(row *summary.EfficiencyRow, t *tally) {
	if row.Bytes != nil {
		row.BytesIs = "exact"
		if t.estimated {
			row.BytesIs = "estimate"
		}
	}
	for _, c := range []operators.Count{t.flops, t.bytes} {
		if c.Why != operators.Known && row.Unknown == "" {
			row.Unknown = c.Why.String()
		}
	}
}

// Rate sets the values that follow from the FLOPs, bytes and time of a row.
func Rate(row *summary.EfficiencyRow, peaks *hardware.Peaks, of hardware.Totals) {
	perNS := func(n *int64, scale float64) *float64 {
		if n == nil || row.GPUNS == 0 {
			return nil
		}
		v := float64(*n) / float64(row.GPUNS) / scale
		return &v
	}
	row.TFLOPS, row.GBPS = perNS(row.FLOPs, 1e3), perNS(row.Bytes, 1)
	row.Intensity, row.RooflineNS, row.Bound = nil, nil, ""
	if row.FLOPs != nil && row.Bytes != nil && *row.Bytes > 0 {
		v := float64(*row.FLOPs) / float64(*row.Bytes)
		row.Intensity = &v
	}
	row.Over = overNames[peaks.Excess(of, row.GPUNS)]
	if row.Unknown == summary.NoPeak {
		row.Unknown = ""
	}
	if roof, ok := RooflineOf(peaks, of, row.GPUNS); ok {
		row.RooflineNS, row.Bound = &roof.NS, string(roof.Bound)
	} else if row.Unknown == "" && !summary.IsOver(row.Over) {
		row.Unknown = summary.NoPeak
	}
}

// overNames has the names of the peaks that a row can exceed.
var overNames = [...]string{
	hardware.NoExcess: "", hardware.Cached: summary.OverCached, hardware.OverMemory: summary.OverMemory, hardware.OverCompute: summary.OverCompute,
}

func number(c operators.Count) *int64 {
	if c.Why != operators.Known {
		return nil
	}
	return &c.N
}

// ends returns the bounds of a number that is not known exactly.
func ends(c operators.Count) (least, most *int64) {
	if low, high, ok := c.Ends(); ok && c.Why != operators.Known {
		return &low, &high
	}
	return nil, nil
}

// UnitName returns the name of a unit in the summary.
func UnitName(u operators.Unit) string {
	return map[operators.Unit]string{operators.Matrix: "matrix", operators.Vector: "vector", operators.None: "none"}[u]
}

// figureName returns the rate that a row is compared with; work without arithmetic has none.
func figureName(t hardware.Totals) string {
	if t.Unit != operators.Matrix && t.Unit != operators.Vector {
		return ""
	}
	return t.Peak.String()
}

// maxNesting is the deepest list of arguments: dimensions of tensors in a list of tensors.
const maxNesting = 4

// recorded returns a list of arguments as JSON. It is null if there is none, or if the text is not
// valid JSON (it may be truncated), nests too deeply (each level indents the output further), or has
// a number that is not finite.
func recorded(text string) json.RawMessage {
	none := json.RawMessage("null")
	var out bytes.Buffer
	if text == "" || json.Compact(&out, []byte(text)) != nil || !shallow(out.Bytes()) {
		return none
	}
	return out.Bytes()
}

// shallow reports whether valid JSON nests at most maxNesting deep and has only numbers that are
// certainly finite: without an exponent and with few enough digits for a float64.
func shallow(text []byte) bool {
	depth, digits, check := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			if depth++; depth > maxNesting {
				return false
			}
		case ']', '}':
			depth--
		case 'e', 'E': // of an exponent, or of true and false
			check = check || digits > 0
		}
		if c := text[i]; '0' <= c && c <= '9' || c == '.' {
			digits++
			check = check || digits > 300
		} else {
			digits = 0
		}
	}
	return !check || finite(text)
}

// finite reports whether all numbers of valid JSON are finite.
func finite(text []byte) bool {
	for tokens := json.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := tokens.Token(); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// RidgeOf returns the operations in 16 bits that a GPU can do while it reads a byte of its memory, or 0 if a
// peak is not known.
func RidgeOf(t *trace.Trace, ordinal int64, peaks hardware.Catalog) float64 {
	p := peaks.Peaks(PropertiesOf(t, ordinal))
	if !p.Known(hardware.HBM) {
		return 0
	}
	return max(p.Figures[hardware.BF16], p.Figures[hardware.FP16]) * 1e3 / p.Figures[hardware.HBM]
}
