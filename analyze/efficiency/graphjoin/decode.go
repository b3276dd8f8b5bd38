package graphjoin

import (
	"math"

	"assay/analyze/efficiency/hardware"
	"assay/analyze/efficiency/operators"
	"assay/summary"
)

// maxHidden is the largest share of the GPU time of a decode step without a formula for which the
// weights of the step count as known.
const maxHidden = 0.01

// addReplay adds the launches of a graph to a decode step. The graph has no capture if m is nil.
func addReplay(row *summary.EfficiencyDecode, m *matched, l *summary.StepReplay) {
	if row == nil || row.Parts == nil {
		return
	}
	row.Replays, row.ReplayNS = summary.Plus(row.Replays, l.Launches), summary.Plus(row.ReplayNS, l.WallNS)
	if m == nil || m.capture.Decode == nil || int64(len(l.NodeNS)) != m.replay.Nodes {
		row.Parts.Opaque = true
		return
	}
	times, known := timesOf(m.capture, l.NodeNS)
	part := *m.capture.Decode
	part.HiddenNS = l.GPUNS - min(known, l.GPUNS)
	for _, at := range m.capture.Hidden {
		if at >= 0 && int(at) < len(times) {
			part.HiddenNS = summary.Plus(part.HiddenNS, times[at])
		}
	}
	row.Parts.Add(&part, l.Launches)
}

// outside reports whether work outside of graphs has bytes that a decode step needs.
func outside(p *summary.DecodeParts) bool {
	return p.Weights > 0 || p.Unknown != "" || p.Reads.Calls > 0 || p.Writes.Calls > 0
}

// rateDecode sets the values that follow from the parts of a decode step, and removes the parts.
// replayed says that graphs move all bytes of the step.
func rateDecode(row *summary.EfficiencyDecode, p *hardware.Peaks, replayed bool) {
	parts := row.Parts
	row.Parts, row.Layers = nil, parts.Reads.Calls
	unknown := ""
	fail := func(why string) {
		if unknown == "" {
			unknown = why
		}
	}
	if row.Tokens == 0 {
		fail(summary.DecodeLengths)
	}
	switch {
	case parts.Opaque:
		fail(summary.DecodeGraph)
	case parts.Unknown != "":
		fail(parts.Unknown)
	case float64(parts.HiddenNS) > maxHidden*float64(row.GPUNS):
		fail(summary.DecodeHidden)
	default:
		row.WeightBytes = &parts.Weights
	}
	read, written, why := cacheOf(parts)
	if why != "" {
		fail(why)
	} else if row.Tokens > 0 && !parts.Opaque {
		reads, writes := summary.Times(read, row.Keys), summary.Times(written, row.Tokens)
		if max(reads, writes) == math.MaxInt64 {
			fail(operators.TooLarge.String())
		} else {
			row.KVReadBytes, row.KVWrittenBytes = &reads, &writes
		}
	}
	if row.Unknown = unknown; unknown == "" {
		row.Unknown = rateBytes(row, p, replayed)
	}
}

// cacheOf returns the bytes per token that a step reads from and writes to the cache, over all
// layers, or why they are unknown. For an attention without the cache in its arguments, the cache
// of the write in its layer counts.
func cacheOf(p *summary.DecodeParts) (read, written int64, why string) {
	if p.Reads.Calls == 0 {
		return 0, 0, summary.DecodeAttention
	}
	paired := p.Writes.Calls == p.Reads.Calls && p.Writes.Unknown == 0
	switch {
	case p.Reads.Unknown == 0:
		read = p.Reads.PerToken
	case paired:
		read = p.Writes.PerToken
	default:
		return 0, 0, summary.DecodeCache
	}
	switch {
	case p.Writes.Calls == 0: // the attention or a fused operator writes it
		written = read
	case p.Writes.Unknown == 0:
		written = p.Writes.PerToken
	default:
		return 0, 0, summary.DecodeCache
	}
	return read, written, ""
}

// rateBytes compares the bytes of a decode step with the peak of the memory, or returns why it cannot.
func rateBytes(row *summary.EfficiencyDecode, p *hardware.Peaks, replayed bool) (unknown string) {
	bytes := summary.Plus(*row.WeightBytes, summary.Plus(*row.KVReadBytes, *row.KVWrittenBytes))
	if row.WallNS > 0 {
		gbps := float64(bytes) / float64(row.WallNS)
		row.GBPS = &gbps
	}
	share, known := p.Decode(bytes, row.WallNS)
	ofGPU, _ := p.Decode(bytes, row.GPUNS)
	ofReplay, alone := p.Decode(bytes, row.ReplayNS)
	alone = alone && replayed
	switch {
	case !known:
		return summary.DecodePeak
	case share > 1 || ofGPU > 1 || alone && ofReplay > 1:
		row.GBPS = nil
		return summary.DecodeOver
	}
	row.Share, row.ShareGPU = &share, &ofGPU
	floor, mbu := int64(math.Ceil(float64(bytes)/p.Figures[hardware.HBM])), share
	row.FloorNS, row.MBU, row.FloorFrom = &floor, &mbu, summary.FloorOfOperators
	if alone {
		row.ShareReplay = &ofReplay
	}
	if row.Tokens == row.Batch { // one token for each request
		ceiling := float64(row.Batch) * p.Figures[hardware.HBM] * 1e9 / float64(bytes)
		row.CeilingTokensPerS = &ceiling
	}
	return ""
}
