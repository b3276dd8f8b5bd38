package floor

import (
	"assay/analyze/efficiency/hardware"
	"assay/analyze/efficiency/transformer"
	"assay/summary"
)

// A load is what the layers of a step compute on one GPU, and how its GPUs divide them.
type load struct {
	transformer.Step
	transformer.Parallel
	head bool // the output layer computes all tokens
}

// fillLayers adds the floor of the model to parts of layers that have none by recorded shapes. The layers of a step are those of the
// model if there are as many in each pass, or a multiple: then each run through them computes its share of the tokens.
func (set *Settings) fillLayers(s *summary.Summary) {
	type pass struct {
		gpu  summary.GPU
		step string
		at   int64 // of layers without a step, whose rows are single runs
		pass string
	}
	of := func(l *summary.Layer) pass {
		p := pass{gpu: summary.GPU{Input: l.Input, Rank: l.Rank, Device: l.Device}, step: l.Step, pass: l.Pass}
		if l.Step == "" {
			p.at = l.StartNS
		}
		return p
	}
	counts := map[pass]int64{}
	for i := range s.Layers {
		counts[of(&s.Layers[i])] += s.Layers[i].Count
	}
	for i := range s.Layers {
		l := &s.Layers[i]
		r, ok := set.runOf(s, l)
		if !ok || set.Model.Layers%r.Pipeline != 0 {
			continue
		}
		runs := counts[of(l)] / (set.Model.Layers / r.Pipeline)
		if runs == 0 || counts[of(l)]%(set.Model.Layers/r.Pipeline) != 0 || r.Tokens%runs != 0 {
			continue
		}
		r.Tokens, r.Requests, r.Keys = r.Tokens/runs, max(1, r.Requests/runs), r.Keys/runs
		set.fillLayer(s, l, r)
	}
}

// runOf returns what the step of some layers computes: as its decode step or its annotation states, or as the user does.
func (set *Settings) runOf(s *summary.Summary, l *summary.Layer) (r load, ok bool) {
	for i := range s.Efficiency.Decode {
		d := &s.Efficiency.Decode[i]
		if d.Input != l.Input || d.Rank != l.Rank || d.Device != l.Device || d.Name != l.Step {
			continue
		}
		if m := d.Model; m != nil && m.Unknown == "" {
			r = load{transformer.Step{Requests: m.Requests, Tokens: m.Tokens, Keys: d.Keys}, transformer.Parallel{Tensor: m.Tensor, Expert: m.Expert, Pipeline: m.Pipeline},
				m.Tokens == m.Requests}
		}
		return r, r.Tokens > 0
	}
	d := summary.EfficiencyDecode{Input: l.Input, Rank: l.Rank, Device: l.Device}
	p, from := set.parallel(s, &d)
	if r.Parallel = p; from == "" {
		return r, false
	}
	for i := range s.Steps {
		if st := &s.Steps[i]; st.Kind != "" && st.Input == l.Input && st.Rank == l.Rank && st.Device == l.Device && st.Name == l.Step {
			r.Step = transformer.Step{Requests: st.Batch, Tokens: st.Tokens}
			return r, r.Tokens > 0
		}
	}
	switch {
	case set.Tokens > 0: // each token sees those before it: on average half of its sequence
		r.Step, r.head = transformer.Step{Requests: max(1, set.Sequences), Tokens: set.Tokens}, true
		if set.Sequences > 0 {
			r.Keys = set.Tokens / 2
		}
	case set.Requests > 0 && l.Step == "":
		r.Step, r.head = transformer.Step{Requests: set.Requests, Tokens: set.Requests}, true
	}
	return r, r.Tokens > 0
}

// fillLayer adds the floors of one row.
func (set *Settings) fillLayer(s *summary.Summary, l *summary.Layer, r load) {
	parts, err := set.Model.Layer(set.stored(s), r.Step, r.Parallel)
	if err != nil {
		return
	}
	measured := map[string]int64{summary.HeadPart: l.HeadNS}
	for _, p := range l.TypicalParts.Each() {
		measured[p.Name] = p.NS
	}
	if l.Pass == "recompute" && measured["mlp"]+measured["moe"] == 0 {
		return // of attention only, maybe without its projections
	}
	if measured["moe"] > 0 {
		delete(measured, "mlp") // layers without experts have it
	}
	for _, f := range l.Floor {
		delete(measured, f.Part)
	}
	if !r.head {
		delete(measured, summary.HeadPart)
	}
	p := peaksOf(s, &summary.EfficiencyDecode{Input: l.Input, Rank: l.Rank, Device: l.Device})
	for _, part := range parts {
		// The backward pass computes the gradients of inputs and of weights, reads the weights and writes their gradients.
		if l.Pass == "backward" && part.Name != transformer.LayerLink {
			part.Bytes, part.FLOPs = 2*part.Bytes, 2*part.FLOPs
		}
		f := summary.PartFloor{Part: part.Name, KernelNS: measured[part.Name], Bytes: whole(part.Bytes), FLOPs: whole(part.FLOPs),
			Bound: "memory", From: summary.FloorOfModel}
		lane := hardware.HBM
		if part.Name == transformer.LayerLink {
			lane, f.Bound = hardware.Link, "link"
		}
		rate := p.Figures[set.rateOf(p)]
		if !p.Known(lane) || rate <= 0 {
			continue
		}
		moving, compute := part.Bytes/p.Figures[lane], part.FLOPs/rate/1e3
		if f.NS = whole(max(moving, compute)); compute > moving {
			f.Bound = "compute"
		}
		if f.NS > 0 && f.NS <= f.KernelNS { // else it is another model, or another batch
			l.Floor = append(l.Floor, f)
		}
	}
}
