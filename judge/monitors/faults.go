package monitors

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// inUse returns the share of the samples for which a fault holds, over those in which the GPU is in use, and how many
// these are.
func (g *gpu) inUse(margin float64, fault func(i int) bool) (share float64, used int64) {
	n := 0
	for i, u := range g.use.Strip.Values {
		if u < margin {
			continue
		}
		if used++; fault(i) {
			n++
		}
	}
	if used == 0 {
		return 0, 0
	}
	return float64(n) / float64(used), used
}

// sampled returns the GPUs without those of single dumps, which package health judges.
func (e *Evaluator) sampled() []*gpu {
	return slices.DeleteFunc(e.gpus(), func(g *gpu) bool { return g.use.Producer == summary.DumpProducer && g.use.N < summary.Sampled })
}

// at returns a value of a metric that was recorded together with the use, or 0.
func at(values []float64, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return 0
}

// A faulty is a GPU with a fault, and the share of the time in use that has it.
type faulty struct {
	*gpu
	share float64
	used  int64
	what  string
}

// worstOf returns the worst of several GPUs, and the names of those with the same fault.
func worstOf(all []faulty) (worst faulty, names string) {
	worst = slices.MaxFunc(all, func(a, b faulty) int { return int(1e6*a.share) - int(1e6*b.share) })
	var list []string
	for _, g := range all {
		if g.what == worst.what {
			list = append(list, g.number())
		}
	}
	if len(list) == 1 {
		return worst, "GPU " + list[0]
	}
	return worst, label.Clip("GPUs "+strings.Join(list, ", "), 40)
}

// slowed reports GPUs whose clocks are reduced by heat or by the power supply. The power limit alone is no fault.
func (e *Evaluator) slowed() (finding.Finding, bool) {
	limits := e.Limits[rule.SlowedGPUs]
	var all []faulty
	for _, g := range e.sampled() {
		for _, c := range []struct{ metric, cause string }{
			{"gpu.slowed_by_heat", "heat"}, {"gpu.slowed_by_supply", "the power supply"}} {
			reduced := g.like(c.metric)
			share, used := g.inUse(limits.Margin, func(i int) bool { return at(reduced, i) > 0 })
			if used > 0 && used >= limits.MinEvents && share >= limits.Warn {
				all = append(all, faulty{g, share, used, c.cause})
			}
		}
	}
	if len(all) == 0 {
		return finding.Finding{}, false
	}
	worst, names := worstOf(all)
	m := e.fault(rule.SlowedGPUs, worst, map[string]string{"gpus": names + are(names), "cause": worst.what})
	m.Lists = map[string][]string{"clocks": {label.Plural(worst.used, "sample") + " in which the GPU is in use"}}
	if clocks, most := worst.like("gpu.clock"), worst.rows["gpu.clock_max"]; clocks != nil && most != nil {
		m.Lists["clocks"] = append(m.Lists["clocks"], fmt.Sprintf("clock %.0f MHz (median) of up to %.0f MHz",
			stat.Median(slices.Clone(clocks))/1e6, *most.Max/1e6))
	}
	f, ok := e.finding(m)
	if worst.used < fewSamples {
		f.Level = min(f.Level, finding.Warn)
	}
	return f, ok
}

// fewSamples is the number of samples below which no finding of a monitor is critical.
const fewSamples = 10

func are(names string) string {
	if strings.HasPrefix(names, "GPUs") {
		return " are"
	}
	return " is"
}

// fault returns what a rule measured of the worst GPU.
func (e *Evaluator) fault(id string, worst faulty, words map[string]string) tree.Measured {
	return tree.Measured{Rule: id, Value: worst.share, Words: words,
		Where: []finding.Place{{Input: worst.input, Rank: e.Inputs[worst.input].Rank}}}
}

// slowLink reports GPUs whose PCIe link has fewer lanes or a lower generation than it can have while they are in use.
func (e *Evaluator) slowLink() (finding.Finding, bool) {
	limits := e.Limits[rule.SlowLink]
	var all []faulty
	for _, g := range e.sampled() {
		for _, c := range []struct{ metric, text string }{
			{"gpu.pcie_width", "PCIe link with %.0f of %.0f lanes"}, {"gpu.pcie_generation", "PCIe generation %.0f of %.0f"}} {
			now, most := g.like(c.metric), g.like(c.metric+"_max")
			share, used := g.inUse(limits.Margin, func(i int) bool { return at(now, i) > 0 && now[i] < at(most, i) })
			if used > 0 && used >= limits.MinEvents && share >= limits.MinBusy {
				all = append(all, faulty{g, share, used, fmt.Sprintf(c.text, slices.Min(now), slices.Max(most))})
				break
			}
		}
	}
	if len(all) == 0 {
		return finding.Finding{}, false
	}
	worst, names := worstOf(all)
	f, ok := e.finding(e.fault(rule.SlowLink, worst, map[string]string{"gpus": names, "link": worst.what}))
	f.Level = finding.Warn
	return f, ok
}

// memoryErrors reports GPUs with damaged memory.
func (e *Evaluator) memoryErrors() (finding.Finding, bool) {
	places := map[string]bool{}
	var all []faulty
	for i := range e.Series {
		r := &e.Series[i]
		if r.Pooled > 0 || r.N == 0 || !strings.HasPrefix(r.Metric, "gpu.") || r.Producer == summary.DumpProducer {
			continue
		}
		places[fmt.Sprint(r.Input, r.LabelText())] = true
		if what := damage(r); what != "" {
			all = append(all, faulty{&gpu{input: r.Input, place: r.LabelText()}, *r.Max, r.N, what})
		}
	}
	if len(all) == 0 {
		return finding.Finding{}, false
	}
	failed := func(f faulty) bool { return f.what == rowFailed }
	if some := slices.DeleteFunc(slices.Clone(all), func(f faulty) bool { return !failed(f) }); len(some) > 0 {
		all = some
	}
	worst, names := worstOf(all)
	worst.share = float64(len(all)) / float64(max(len(places), len(all)))
	f, ok := e.finding(e.fault(rule.MemoryErrors, worst, map[string]string{"gpus": names, "what": worst.what}))
	if f.Level = finding.Warn; failed(worst) {
		f.Level = finding.Critical
	}
	return f, ok
}

const rowFailed = "row remapping failed"

// damage returns what a series says about the memory of a GPU, or "".
func damage(r *summary.Series) string {
	if *r.Max <= 0 {
		return ""
	}
	switch r.Metric {
	case "gpu.ecc_uncorrected":
		return label.Plural(int64(*r.Max), "uncorrectable ECC error") + " since the driver was loaded"
	case "gpu.remap_failed":
		return rowFailed
	case "gpu.remap_pending":
		return "row remap pending"
	}
	return ""
}
