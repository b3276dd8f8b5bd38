package efficiency

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/summary"
	"assay/summary/view"
)

// A Proposal is a change of the program whose effect on the GPU work follows from measurements, as "assay whatif" has it.
type Proposal struct {
	Kind, Value string
	By          string // as of [summary.Forecast]
	Bound       bool   // the best case
}

const (
	mostFused   = 2    // chains that are proposed
	leastOfWork = 0.02 // of the kernel time that a proposal has to save, or of the launches
	mostNames   = 12   // kernels of one proposal
)

// Proposals returns the changes to some inputs that pay by their operators: fp32 products in TF32, and the chains of
// operators that could be fused.
func Proposals(s *summary.Summary, has func(input int) bool) (out []Proposal) {
	var total, launched int64
	for i := range s.Kernels {
		if k := &s.Kernels[i]; has(k.Input) {
			total, launched = summary.Plus(total, k.TotalNS), summary.Plus(launched, k.Count)
		}
	}
	is, would := map[string]int64{}, map[string]int64{}
	var names []string
	for r, least := range inFullPrecision(s) {
		if !has(r.Input) {
			continue
		}
		if is[r.Kernel] == 0 {
			names = append(names, r.Kernel)
		}
		is[r.Kernel], would[r.Kernel] = summary.Plus(is[r.Kernel], r.GPUNS), summary.Plus(would[r.Kernel], min(least, r.GPUNS))
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(is[b], is[a]) })
	names = names[:min(len(names), mostNames)]
	var before, after int64
	quoted := make([]string, len(names))
	for i, name := range names {
		before, after = summary.Plus(before, is[name]), summary.Plus(after, would[name])
		quoted[i] = regexp.QuoteMeta(name)
	}
	if float64(before-after) >= leastOfWork*float64(total) && before > after {
		out = append(out, Proposal{"scale", "kernel~^(?:" + strings.Join(quoted, "|") + ")$=" + factor(after, before), summary.ByTF32, true})
	}
	return slices.Concat(out, fusions(s, has, total, launched), shorter(s, has, total))
}

// kernels are kernels of one proposal by name: their time, and what of it would be left.
type kernels struct{ is, left map[string]int64 }

func (k *kernels) add(name string, is, left int64) {
	if k.is == nil {
		k.is, k.left = map[string]int64{}, map[string]int64{}
	}
	k.is[name], k.left[name] = summary.Plus(k.is[name], is), summary.Plus(k.left[name], left)
}

// proposal returns the change of those with the most time to what is left of them, if that saves a part of the kernel time.
func (k *kernels) proposal(by string, least float64, total int64) []Proposal {
	names := slices.Sorted(maps.Keys(k.is))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(k.is[b], k.is[a]) })
	var before, after int64
	var quoted []string
	for _, name := range names[:min(len(names), mostNames)] {
		before, after = summary.Plus(before, k.is[name]), summary.Plus(after, k.left[name])
		quoted = append(quoted, regexp.QuoteMeta(name))
	}
	if before <= after || float64(before-after) < least*float64(total) {
		return nil
	}
	return []Proposal{{"scale", "kernel~^(?:" + strings.Join(quoted, "|") + ")$=" + factor(after, before), by, true}}
}

// shorter returns the proposals of work that findings say could be left out or shorter: kernels that only copy, copies to the
// host and back, and kernels that do not fill the GPU.
func shorter(s *summary.Summary, has func(input int) bool, total int64) (out []Proposal) {
	var copying, blocks, warps kernels
	for i := range s.Kernels {
		if k := &s.Kernels[i]; has(k.Input) && k.Category == "layout" {
			copying.add(k.Name, k.TotalNS, 0)
		}
	}
	for i := range s.Efficiency.Occupancy {
		o := &s.Efficiency.Occupancy[i]
		if !has(o.Input) {
			continue
		}
		if ns := Scarce(o); ns > 0 {
			warps.add(o.Name, o.TotalNS, o.TotalNS-ns)
		}
		if o.Loss == summary.LossFewSMs {
			blocks.add(o.Name, o.TotalNS, o.TotalNS-o.GainNS)
		}
	}
	const copied, idle = 0.1, 0.05 // as the findings
	out = slices.Concat(copying.proposal(summary.ByCopyKernels, copied, total), blocks.proposal(summary.ByFewBlocks, idle, total),
		warps.proposal(summary.ByFewWarps, idle, total))
	var copies, trips int64
	for i := range s.Copies {
		if has(s.Copies[i].Input) {
			copies = summary.Plus(copies, s.Copies[i].TotalNS)
		}
	}
	for i := range s.Efficiency.Savings {
		if r := &s.Efficiency.Savings[i]; r.Kind == summary.SavingHost && has(r.Input) {
			trips = summary.Plus(trips, r.TotalNS)
		}
	}
	if trips > 0 && copies > trips {
		out = append(out, Proposal{"scale", "class:copy=" + factor(copies-trips, copies), summary.ByRoundTrips, true})
	}
	return out
}

// fusions returns the proposals to fuse chains: those that save most time, or launches.
func fusions(s *summary.Summary, has func(input int) bool, total, launched int64) (out []Proposal) {
	type chain struct {
		Save
		known bool // how many bytes are saved
	}
	chains := map[string]*chain{}
	for i := range s.Efficiency.Savings {
		r := &s.Efficiency.Savings[i]
		if r.Kind != summary.SavingFuse || !has(r.Input) || slices.ContainsFunc(r.Names, func(n string) bool { return strings.Contains(n, ",") }) {
			continue
		}
		key := strings.Join(r.Names, ",")
		c := chains[key]
		if c == nil {
			c = &chain{known: true}
			c.Names, chains[key] = r.Names, c
		}
		c.Count, c.TotalNS, c.GainNS = c.Count+r.Count, summary.Plus(c.TotalNS, r.TotalNS), summary.Plus(c.GainNS, r.GainNS)
		c.known = c.known && r.GainFrom == summary.GainOfBytes
	}
	saved := func(c *chain) float64 { // a part of the time, or of the launches
		return max(float64(c.GainNS)/float64(max(1, total)), float64(c.Count*int64(len(c.Names)-1))/float64(max(1, launched)))
	}
	keys := slices.Sorted(maps.Keys(chains))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(saved(chains[b]), saved(chains[a])) })
	for _, key := range keys[:min(len(keys), mostFused)] {
		if c := chains[key]; saved(c) >= leastOfWork && c.GainNS < c.TotalNS {
			out = append(out, Proposal{"fuse", view.FusedChain + key + "=" + factor(c.TotalNS-c.GainNS, c.TotalNS), summary.ByFusion, !c.known})
		}
	}
	return out
}

// factor returns a part of a whole as the factor of a change.
func factor(part, whole int64) string {
	return strconv.FormatFloat(float64(part)/float64(max(1, whole)), 'g', 3, 64)
}
