// Package floor compares decode steps with the least time in which the hardware could do them, by the
// configuration of the model. It sees a summary only, so it needs no operators.
package floor

import (
	"math"
	"slices"

	"assay/analyze/efficiency/hardware"
	"assay/analyze/efficiency/transformer"
	"assay/summary"
)

// Settings are what the user states. Numbers that are not stated are 0.
type Settings struct {
	Model    transformer.Model
	Stored   transformer.Stored
	Requests int64 // of a decode step, for steps that do not state it
	// Tokens of other steps on each GPU, as of training, and their sequences, 0 if these are not stated.
	Tokens, Sequences int64
	Parallel          transformer.Parallel
}

// maxOther is by how much the weights of the model may differ from those of operators with recorded shapes.
const maxOther = 0.1

// Fill adds the floor of the model to the decode steps of a summary. If no step states its kind and the user
// states the number of requests, all steps are decode steps.
func Fill(s *summary.Summary, set Settings) {
	e := &s.Efficiency
	if len(e.Decode) == 0 && set.Requests > 0 {
		e.Decode = unmarked(s)
	}
	for i := range e.Decode {
		set.fill(s, &e.Decode[i])
	}
	set.fillLayers(s)
}

// stored returns how the weights and the cache are stored.
func (set *Settings) stored(s *summary.Summary) transformer.Stored {
	stored := set.Stored
	if cache, known := cacheType(s); known {
		stored.Cache = cache
	}
	return stored
}

// unmarked returns a row for each step of a timeline, if none states its kind.
func unmarked(s *summary.Summary) (out []summary.EfficiencyDecode) {
	for i := range s.Steps {
		st := &s.Steps[i]
		if st.Kind != "" {
			return nil
		}
		if st.Source != summary.SourceLog && st.LaunchesCut == 0 && st.Activity.Busy() > 0 {
			out = append(out, summary.EfficiencyDecode{Input: st.Input, Rank: st.Rank, Device: st.Device, Name: st.Name, Number: st.Number,
				StartNS: st.StartNS, WallNS: st.WallNS, GPUNS: st.Activity.Busy(), Unknown: summary.DecodeLengths})
		}
	}
	return out
}

// fill adds the floor to one step.
func (set *Settings) fill(s *summary.Summary, d *summary.EfficiencyDecode) {
	m := &summary.DecodeModel{Type: set.Model.Type, Dtype: set.Stored.Type, Scheme: set.Stored.Scheme}
	d.Model = m
	step := transformer.Step{Requests: d.Batch, Tokens: d.Tokens, Keys: d.Keys}
	m.RequestsFrom = summary.FromStep
	if step.Requests == 0 {
		step.Requests, m.RequestsFrom = set.Requests, summary.FromUser
	}
	if step.Tokens == 0 {
		step.Tokens = step.Requests // one for each
	}
	if step.Requests == 0 {
		m.Unknown, m.RequestsFrom = summary.FloorNoRequests, ""
		return
	}
	m.Requests, m.Tokens = step.Requests, step.Tokens
	p, from := set.parallel(s, d)
	if from == "" {
		m.Unknown = summary.FloorNoParallel
		return
	}
	m.Tensor, m.Expert, m.Pipeline, m.ParallelFrom = p.Tensor, p.Expert, p.Pipeline, from
	if m.RequestsFrom == summary.FromUser && passes(s, d, set.Model.Layers) > 1 {
		m.Unknown = summary.FloorPasses
		return
	}
	parts, err := set.Model.Decode(set.stored(s), step, p)
	if err != nil {
		m.Unknown = err.Error()
		return
	}
	set.rate(d, peaksOf(s, d), parts)
	if p.Pipeline == 1 && m.Unknown == "" && otherLayers(s, d, set.Model.Layers) {
		m.Unknown, d.MFU = summary.FloorLayers, nil
		if d.FloorFrom == summary.FloorOfModel {
			d.FloorNS, d.MBU, d.FloorFrom = nil, nil, ""
		}
	}
}

// rate compares the parts of a step with the peaks of its GPU.
func (set *Settings) rate(d *summary.EfficiencyDecode, p *hardware.Peaks, parts []transformer.Part) {
	m, weights, cache, flops := d.Model, 0.0, 0.0, 0.0
	for _, part := range parts {
		row := summary.DecodePart{Part: part.Name, Bytes: whole(part.Bytes), FLOPs: whole(part.FLOPs)}
		if p.Known(hardware.HBM) {
			row.NS = whole(part.Bytes / p.Figures[hardware.HBM])
		}
		m.Parts = append(m.Parts, row)
		flops += part.FLOPs
		if part.Name == transformer.CachePart {
			cache += part.Bytes
		} else {
			weights += part.Bytes
		}
	}
	m.WeightBytes, m.FLOPs = ref(whole(weights)), ref(whole(flops))
	if d.Keys > 0 {
		m.CacheBytes = ref(whole(cache))
	}
	if w := d.WeightBytes; w != nil && math.Abs(float64(*w)-weights) > maxOther*weights {
		m.Unknown = summary.FloorOther
		return
	}
	if !p.Known(hardware.HBM) || d.WallNS <= 0 {
		m.Unknown = summary.FloorNoPeak
		return
	}
	wall := float64(d.WallNS)
	memory, compute := (weights+cache)/p.Figures[hardware.HBM], 0.0
	m.MemoryNS = ref(whole(memory))
	if rate := p.Figures[set.rateOf(p)]; rate > 0 {
		compute = flops / rate / 1e3
		m.ComputeNS = ref(whole(compute))
	}
	if max(memory, compute) > wall {
		m.Unknown = summary.FloorOver
		return
	} else if d.GPUNS > 0 && max(memory, compute) > float64(d.GPUNS) {
		m.Unknown = summary.FloorLittleWork
		return
	}
	if m.ComputeNS != nil {
		d.MFU = ref(compute / wall)
	}
	if d.MBU == nil { // recorded shapes are more exact
		d.FloorNS, d.MBU, d.FloorFrom = ref(whole(max(memory, compute))), ref(memory/wall), summary.FloorOfModel
	}
}

// rateOf returns the highest rate at which the GPU could multiply the matrices. Integers of 4 or 8 bits are
// stored only: the products are of the type that is not quantized.
func (set *Settings) rateOf(p *hardware.Peaks) hardware.Figure {
	best := hardware.FigureOf(set.Stored.Type)
	var faster []hardware.Figure
	switch set.Stored.Scheme {
	case "fp8":
		faster = []hardware.Figure{hardware.FP8}
	case "int8":
		faster = []hardware.Figure{hardware.INT8}
	case "mxfp4", "nvfp4", "fp4":
		faster = []hardware.Figure{hardware.FP8, hardware.FP4}
	}
	for _, f := range faster {
		if p.Figures[f] > p.Figures[best] {
			best = f
		}
	}
	return best
}

// peaksOf returns the peaks of the GPU of a step.
func peaksOf(s *summary.Summary, d *summary.EfficiencyDecode) *hardware.Peaks {
	p := &hardware.Peaks{}
	at := slices.IndexFunc(s.Efficiency.Devices, func(g summary.EfficiencyDevice) bool {
		return g.Input == d.Input && g.Rank == d.Rank && g.Device == d.Device
	})
	if at < 0 {
		return p
	}
	g := &s.Efficiency.Devices[at]
	for name, v := range g.PeakTFLOPS {
		p.Figures[hardware.FigureOf(name)] = v
	}
	for lane, rate := range map[hardware.Figure]*float64{hardware.HBM: g.HBMGBPS, hardware.Link: g.LinkGBPS} {
		if rate != nil {
			p.Figures[lane] = *rate
		}
	}
	return p
}

// whole returns the next whole number of a count that may be too large for 63 bits.
func whole(v float64) int64 { return int64(math.Ceil(min(v, math.MaxInt64/2))) }

func ref[T any](v T) *T { return &v }
