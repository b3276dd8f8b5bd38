package timeline

import (
	"slices"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
)

// Rules returns the rules of a timeline, in any order.
func (c *Evaluator) Rules() []tree.Row {
	idle, compute := []string{rule.GPUIdle}, []string{rule.ComputeBound}
	rows := []tree.Row{
		{ID: rule.GPUIdle, Part: tree.PartIdle, Root: true, Precedence: 1, Measure: c.idlePart},
		{ID: rule.ExposedComm, Part: tree.PartComm, Root: true, Precedence: 2, Measure: c.commPart},
		{ID: rule.ExposedCopies, Part: tree.PartCopies, Root: true, Precedence: 3, Measure: c.copiesPart},
		{ID: rule.ComputeBound, Part: tree.PartCompute, Root: true, Good: true, Precedence: 4, Measure: c.computePart},

		// The GPU may have been busy during CUDA graphs without node trace, so these come first. A
		// cause that names what the CPU did comes before one that says only that it was late, and
		// both come before how the idle time is distributed.
		{ID: rule.OpaqueGraphs, Part: tree.PartIdle, Under: idle, Precedence: 10, Replaces: true, Always: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: c.untracedGraphs},
		{ID: rule.GPUsInTurn, Part: tree.PartIdle, Under: idle, Precedence: 12, Replaces: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: func() []tree.Reading { return gpusInTurn(c) }},
		{ID: rule.UnevenGPUs, Part: tree.PartIdle, Under: idle, Precedence: 14, Replaces: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: func() []tree.Reading { return unevenGPUs(c) }},
		{ID: rule.CPUCollectives, Part: tree.PartIdle, Under: idle, Precedence: 16, Replaces: true, Always: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: func() []tree.Reading { return cpuCollectives(c) }},
		{ID: rule.DataLoading, Part: tree.PartIdle, Under: idle, Precedence: 20, Replaces: true, Always: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: c.dataLoading},
		{ID: rule.Allocating, Part: tree.PartIdle, Under: idle, Precedence: 30, Replaces: true, Always: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: c.allocating},
		{ID: rule.SynchronousLaunches, Part: tree.PartIdle, Under: idle, Precedence: 32, Replaces: true, Always: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: func() []tree.Reading { return synchronousLaunches(c) }},
		{ID: rule.CPUWork, Part: tree.PartIdle, Under: idle, Precedence: 35, Replaces: true, Whole: true, OfIdle: true,
			Worth: tree.WorthOfRule, Measure: c.cpuWork},
		{ID: rule.SmallCopies, Part: tree.PartIdle, Under: idle, Precedence: 37, Replaces: true, Always: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: c.smallCopies},
		{ID: rule.KernelGaps, Part: tree.PartIdle, Under: idle, Precedence: 45, Replaces: true, Always: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: c.kernelGaps},
		{ID: rule.LaunchBound, Part: tree.PartIdle, Under: idle, Precedence: 50, Replaces: true, Always: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: c.launchBound},
		{ID: rule.LongGaps, Part: tree.PartIdle, Under: idle, Precedence: 60, Alone: true, Last: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: c.judgeLongGaps},
		{ID: rule.LowUtilization, Part: tree.PartIdle, Under: idle, Precedence: 70, Alone: true, Last: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: c.judgeUtilization},
		{ID: rule.RLUtilization, Part: tree.PartIdle, Under: idle, Precedence: 80, Alone: true, Last: true, Whole: true,
			OfIdle: true, Worth: tree.WorthOfRule, Measure: c.rlUtilization},

		{ID: rule.HostRoundTrips, Part: tree.PartCopies, Under: []string{rule.ExposedCopies}, Precedence: 15, Replaces: true,
			Alone: true, Whole: true, Worth: tree.WorthOfRule, Measure: func() []tree.Reading { return hostRoundTrips(c) }},
		{ID: rule.OpaqueGraphs, Part: tree.PartCompute, Under: compute, Precedence: 10, Alone: true, Last: true,
			Whole: true, Worth: tree.WorthOfRule, Measure: c.opaqueGraphs},
		{ID: rule.SlowingKernels, Part: tree.PartCompute, Under: compute, Precedence: 15, Alone: true, Last: true,
			Whole: true, Worth: tree.WorthOfLoss, Measure: c.slowingKernels},
		{ID: rule.MemoryBandwidth, Part: tree.PartCompute, Under: compute, Precedence: 30, Alone: true, Last: true,
			Whole: true, Measure: c.memoryBandwidth},
		{ID: rule.FewBlocks, Part: tree.PartCompute, Under: compute, Precedence: 25, Alone: true, Last: true,
			Whole: true, Worth: tree.WorthOfRule, Measure: func() []tree.Reading { return fewBlocks(c) }},
		{ID: rule.FewWarps, Part: tree.PartCompute, Under: compute, Precedence: 26, Alone: true, Last: true,
			Whole: true, Worth: tree.WorthOfRule, Measure: func() []tree.Reading { return fewWarps(c) }},
		{ID: rule.CopyKernels, Part: tree.PartCompute, Under: compute, Precedence: 27, Alone: true, Last: true,
			Whole: true, Worth: tree.WorthOfRule, Measure: func() []tree.Reading { return copyKernels(c) }},
		{ID: rule.TinyKernels, Part: tree.PartCompute, Under: []string{rule.LaunchBound, rule.KernelGaps,
			rule.ComputeBound}, Precedence: 40, Alone: true, Last: true, Whole: true, Measure: c.tinyKernels},
	}
	rows = append(rows, tree.Row{ID: rule.NotRecorded, Part: tree.BasisCapture,
		Conclude: func(finding.Verdict) []tree.Reading { return tree.Found(c.notRecorded()) }})
	rows = append(rows, tree.Row{ID: rule.ProfilerCost, Part: tree.BasisCapture, Conclude: func(v finding.Verdict) []tree.Reading {
		return profilersOwn(c, v)
	}})
	rows = append(rows, tree.Row{ID: rule.RecordsMissing, Part: tree.BasisCapture, Precedence: 5, Abstains: true,
		Conclude: c.recordsMissing})
	for i, call := range []string{rule.SyncCalls, rule.SyncCopies, rule.PageableCopies, rule.SyncMemsets} {
		rows = append(rows, tree.Row{ID: call, Part: tree.PartIdle, Under: []string{rule.ExposedCopies, rule.GPUIdle},
			Precedence: 40, Replaces: true, Alone: true,
			Whole: true, Not: rule.OpaqueGraphs, Worth: tree.WorthOfLoss,
			Measure: func() []tree.Reading { return c.blockingCall(i) }})
	}
	return slices.Concat(rows, kernelRules(c), stepRules(c), phaseRules(c))
}

// kernelRules returns a row of the rule on dominant kernels for each part that a kernel can run in,
// by its class.
func kernelRules(c *Evaluator) (out []tree.Row) {
	for part, id := range map[string]string{tree.PartCompute: rule.ComputeBound, tree.PartComm: rule.ExposedComm,
		tree.PartCopies: rule.ExposedCopies} {
		out = append(out, tree.Row{ID: rule.DominantKernel, Part: part, Under: []string{id}, Precedence: 20, Alone: true,
			Last: true, Whole: true,
			Measure: func() []tree.Reading { return c.dominantKernel(id) }})
	}
	return out
}

func stepRules(c *Evaluator) []tree.Row {
	return []tree.Row{
		{ID: rule.WarmUpSteps, Part: tree.BasisSteps, Measure: tree.Single(c.warmUpSteps)},
		{ID: rule.PeriodicStalls, Part: tree.BasisSteps, Measure: tree.Single(c.periodicStalls)},
		{ID: rule.LateComm, Part: tree.BasisSteps, Measure: func() []tree.Reading { return lateComm(c) }},
		{ID: rule.SlowSteps, Part: tree.BasisSteps, Under: []string{rule.PeriodicStalls}, Measure: c.slowSteps},
		{ID: rule.UnevenSteps, Part: tree.BasisSteps, Measure: tree.Single(c.unevenSteps)},
		{ID: rule.SteadySteps, Part: tree.BasisSteps, Conclude: func(v finding.Verdict) []tree.Reading { return tree.Found(c.steadySteps(v)) }},
	}
}

func phaseRules(c *Evaluator) []tree.Row {
	rows := []tree.Row{
		{ID: rule.WarmUpPhases, Part: tree.BasisPhases, Measure: c.warmUpPhases},
		{ID: rule.DataShare, Part: tree.BasisPhases, Under: []string{rule.DataLoading}, Precedence: 10, Last: true,
			Measure: c.dataShare},
		{ID: rule.WeightSyncTime, Part: tree.BasisPhases, Measure: tree.Single(c.weightSyncTime)},
	}
	for _, r := range shareRules() {
		rows = append(rows, tree.Row{ID: r.rule, Part: tree.BasisPhases, Measure: func() []tree.Reading {
			if !learns(c) {
				return nil
			}
			return tree.Found(phaseShare(c, r.rule, r.phase, r.what))
		}})
	}
	return rows
}
