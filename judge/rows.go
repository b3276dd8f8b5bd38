package judge

import "slices"

// The parts of the window, as the tree names them, and the bases of the findings that are
// not about it.
const (
	partIdle    = "idle"
	partComm    = "exposed-communication"
	partCopies  = "exposed-copies"
	partCompute = "compute"

	basisCapture  = "capture"  // what was recorded
	basisRanks    = "ranks"    // the compute time of one rank
	basisSteps    = "steps"    // the time or the number of all steps
	basisPhases   = "phases"   // steps, or the windows where no steps are marked
	basisMemory   = "memory"   // bytes
	basisCounters = "counters" // the time of the kernels with counters
	basisTotals   = "totals"   // total times without a timeline
	basisProfile  = "profile"  // a profile of functions
)

// A row is a rule: where its findings hang in the tree, and the function that measures
// them. A function sees the summary and the limits, and no other finding.
type row struct {
	id   string
	part string // the root of its findings

	// under has the rules that its findings explain: causes and findings first, then
	// parts of the window. Findings of the other rules have a root of their own.
	under []string

	// precedence orders the causes of one parent. A time that two of them explain counts
	// for the one with the lower number.
	precedence int

	root     bool   // its finding is a part of the window
	good     bool   // that part is not a loss, so its causes are findings of their own
	replaces bool   // its finding replaces the one of its part if it explains at least half of it
	always   bool   // it does so even if the part is within its limits
	alone    bool   // it is a finding if its part is within its limits
	last     bool   // its evidence follows that of its parent, however much it explains
	lower    bool   // it hangs only below findings that have at least its level
	whole    bool   // it is known of the whole windows only
	not      string // the rule whose findings do not include it
	worth    worth  // the share of the window that its levels need

	abstains bool // its finding withholds the verdict

	measure  func(*evaluator) []reading
	conclude func(*evaluator, Verdict) []reading // of rules about the verdict, instead of measure
}

// A worth says which share of the window a cause needs for a level.
type worth int

// The worths.
const (
	worthOfPart worth = iota // the limits of its part
	worthOfRule              // its own limits, which are shares of the window
	worthOfLoss              // min_share of its rule for a warning, and the critical limit of its part
)

// Compute time has no limit of its own. A cause of it needs these shares of the window.
const (
	computeWarn     = 0.10
	computeCritical = 0.50
)

// caps returns the least shares of the window for a warning and for a critical level of a
// cause below a part.
func (r row) caps(own, part Rule) (warn, critical float64) {
	switch {
	case r.worth == worthOfRule:
		return own.Warn, own.Critical
	case r.worth == worthOfLoss:
		return own.MinShare, part.Critical
	case part.ID == RuleComputeBound:
		return computeWarn, computeCritical
	}
	return part.Warn, part.Critical
}

// ofTimeline reports whether a rule is about what ran when.
func (r row) ofTimeline() bool {
	switch r.part {
	case partIdle, partComm, partCopies, partCompute, basisRanks, basisSteps, basisPhases:
		return true
	}
	return false
}

// basedOn accepts the rules of one basis.
func basedOn(part string) func(row) bool { return func(r row) bool { return r.part == part } }

// rules returns all rules. Their order has no meaning.
func rules() []row {
	idle, compute := []string{RuleGPUIdle}, []string{RuleComputeBound}
	rows := []row{
		{id: RuleGPUIdle, part: partIdle, root: true, precedence: 1, measure: (*evaluator).idlePart},
		{id: RuleExposedComm, part: partComm, root: true, precedence: 2, measure: (*evaluator).commPart},
		{id: RuleExposedCopies, part: partCopies, root: true, precedence: 3, measure: (*evaluator).copiesPart},
		{id: RuleComputeBound, part: partCompute, root: true, good: true, precedence: 4, measure: (*evaluator).computePart},

		// The GPU may have been busy during CUDA graphs without node trace, so these come
		// first. A cause that names what the CPU did comes before one that says only that
		// it was late, and both come before how the idle time is distributed.
		{id: RuleOpaqueGraphs, part: partIdle, under: idle, precedence: 10, replaces: true, always: true, whole: true, worth: worthOfRule, measure: (*evaluator).untracedGraphs},
		{id: RuleDataLoading, part: partIdle, under: idle, precedence: 20, replaces: true, always: true, whole: true, worth: worthOfRule, measure: (*evaluator).dataLoading},
		{id: RuleAllocating, part: partIdle, under: idle, precedence: 30, replaces: true, always: true, whole: true, worth: worthOfRule, measure: (*evaluator).allocating},
		{id: RuleLaunchBound, part: partIdle, under: idle, precedence: 50, replaces: true, always: true, whole: true, worth: worthOfRule, measure: (*evaluator).launchBound},
		{id: RuleLongGaps, part: partIdle, under: idle, precedence: 60, alone: true, last: true, whole: true, worth: worthOfRule, measure: (*evaluator).judgeLongGaps},
		{id: RuleLowUtilization, part: partIdle, under: idle, precedence: 70, alone: true, last: true, whole: true, worth: worthOfRule, measure: (*evaluator).judgeUtilization},
		{id: RuleRLUtilization, part: partIdle, under: idle, precedence: 80, alone: true, last: true, whole: true, worth: worthOfRule, measure: (*evaluator).rlUtilization},

		{id: RuleStragglingRank, part: partComm, under: []string{RuleExposedComm}, precedence: 10, replaces: true, worth: worthOfRule, measure: (*evaluator).stragglingRank},
		{id: RuleRanksInTurn, part: partComm, under: []string{RuleExposedComm}, precedence: 11, replaces: true, worth: worthOfRule, measure: (*evaluator).ranksInTurn},
		{id: RuleUnevenRanks, part: basisRanks, under: []string{RuleStragglingRank}, precedence: 10, last: true, measure: (*evaluator).unevenRanks},

		{id: RuleOpaqueGraphs, part: partCompute, under: compute, precedence: 10, alone: true, last: true, whole: true, worth: worthOfRule, measure: (*evaluator).opaqueGraphs},
		{id: RuleMemoryBandwidth, part: partCompute, under: compute, precedence: 30, alone: true, last: true, whole: true, measure: (*evaluator).memoryBandwidth},
		{id: RuleTinyKernels, part: partCompute, under: []string{RuleLaunchBound, RuleComputeBound}, precedence: 40, alone: true, last: true, whole: true, measure: (*evaluator).tinyKernels},
	}
	for i, call := range []string{RuleSyncCalls, RuleSyncCopies, RulePageableCopies, RuleSyncMemsets} {
		rows = append(rows, row{id: call, part: partIdle, under: []string{RuleExposedCopies, RuleGPUIdle}, precedence: 40, replaces: true, alone: true,
			whole: true, not: RuleOpaqueGraphs, worth: worthOfLoss, measure: func(c *evaluator) []reading { return c.blockingCall(i) }})
	}
	return slices.Concat(rows, kernelRules(), stepRules(), phaseRules(), captureRules(), memoryRules(), counterRules(), totalsRules(), profileRules())
}

// kernelRules returns the rule of the dominant kernel for each part that a kernel can run
// in, by its class.
func kernelRules() (out []row) {
	for part, id := range map[string]string{partCompute: RuleComputeBound, partComm: RuleExposedComm, partCopies: RuleExposedCopies} {
		out = append(out, row{id: RuleDominantKernel, part: part, under: []string{id}, precedence: 20, alone: true, last: true, whole: true,
			measure: func(c *evaluator) []reading { return c.dominantKernel(id) }})
	}
	return out
}

func stepRules() []row {
	return []row{
		{id: RuleWarmUpSteps, part: basisSteps, measure: single((*evaluator).warmUpSteps)},
		{id: RulePeriodicStalls, part: basisSteps, measure: single((*evaluator).periodicStalls)},
		{id: RuleSlowSteps, part: basisSteps, under: []string{RulePeriodicStalls}, measure: (*evaluator).slowSteps},
		{id: RuleUnevenSteps, part: basisSteps, measure: single((*evaluator).unevenSteps)},
		{id: RuleSteadySteps, part: basisSteps, conclude: func(c *evaluator, v Verdict) []reading { return found(c.steadySteps(v)) }},
	}
}

func phaseRules() []row {
	rows := []row{
		{id: RuleWarmUpPhases, part: basisPhases, measure: (*evaluator).warmUpPhases},
		{id: RuleDataShare, part: basisPhases, under: []string{RuleDataLoading}, precedence: 10, last: true, measure: (*evaluator).dataShare},
		{id: RuleWeightSyncTime, part: basisPhases, measure: single((*evaluator).weightSyncTime)},
	}
	for _, r := range shareRules() {
		rows = append(rows, row{id: r.rule, part: basisPhases, measure: func(c *evaluator) []reading {
			if !c.learns() {
				return nil
			}
			return found(c.phaseShare(r.rule, r.phase, r.what))
		}})
	}
	return rows
}

// captureRules returns the rules about what was recorded.
func captureRules() []row {
	return []row{
		{id: RuleCaptureQuality, part: basisCapture, measure: single((*evaluator).captureQuality)},
		{id: RuleNoGPUTime, part: basisCapture, precedence: 1, abstains: true, measure: single((*evaluator).withoutGPUTime)},
		{id: RuleClocks, part: basisCapture, precedence: 2, abstains: true, measure: single((*evaluator).clocks)},
		{id: RuleTooLittleWork, part: basisCapture, precedence: 3, abstains: true, measure: single((*evaluator).tooLittleWork)},
		{id: RuleRecordsMissing, part: basisCapture, precedence: 4, abstains: true, conclude: (*evaluator).recordsMissing},
	}
}

func memoryRules() (out []row) {
	for id, measure := range map[string]func(*evaluator) (Finding, bool){
		RuleMemoryExhausted: (*evaluator).memoryExhausted, RuleMemoryPressure: (*evaluator).memoryPressure,
		RuleMemoryFragmented: (*evaluator).memoryFragmented, RuleAllocatorChurn: (*evaluator).allocatorChurn,
		RuleMemoryGrowth: (*evaluator).memoryGrowth, RuleMemoryOwner: (*evaluator).memoryOwner, RuleMemoryUnrecorded: (*evaluator).memoryUnrecorded,
	} {
		out = append(out, row{id: id, part: basisMemory, measure: single(measure)})
	}
	return out
}

func counterRules() (out []row) {
	for _, g := range groups() {
		out = append(out, row{id: g.rule, part: basisCounters, measure: single(func(c *evaluator) (Finding, bool) { return c.counted().judgeGroup(g) })})
	}
	for id, measure := range map[string]func(*counterSet) (Finding, bool){
		RuleLowOccupancy: (*counterSet).lowOccupancy, RulePartialWaves: (*counterSet).partialWaves, RuleCountersMissing: (*counterSet).missing,
	} {
		out = append(out, row{id: id, part: basisCounters, measure: single(func(c *evaluator) (Finding, bool) { return measure(c.counted()) })})
	}
	return out
}

// totalsRules returns the rules of tables of totals: those that withhold the verdict, and
// the others, each in their order of precedence.
func totalsRules() (out []row) {
	type rule struct {
		id      string
		measure func(*tableEvaluator) (Finding, bool)
	}
	for i, r := range []rule{
		{RuleTablesEmpty, (*tableEvaluator).empty}, {RuleKernelsUnrecorded, (*tableEvaluator).unrecorded}, {RuleWithoutDevice, (*tableEvaluator).withoutDevice},
		{RuleGraphsHideKernels, (*tableEvaluator).hiddenByGraphs}, {RuleTooLittleWork, (*tableEvaluator).tooFew},
		{RuleHostWork, (*tableEvaluator).hostWork}, {RuleWaitingCalls, (*tableEvaluator).synchronization}, {RuleCommWork, (*tableEvaluator).communication},
		{RuleCopyWork, (*tableEvaluator).copying}, {RuleCopyOperators, (*tableEvaluator).copyOperators}, {RuleAllocationCalls, (*tableEvaluator).allocation},
		{RuleShortKernels, (*tableEvaluator).shortKernels}, {RuleDominantKernel, (*tableEvaluator).largestKernel},
		{RuleLargestAllocator, (*tableEvaluator).largestAllocator}, {RuleSumsOnly, (*tableEvaluator).sumsOnly},
	} {
		out = append(out, row{id: r.id, part: basisTotals, precedence: i, abstains: i < 5, measure: func(c *evaluator) []reading { return c.totals().read(r.measure) }})
	}
	return out
}

func profileRules() (out []row) {
	for id, measure := range map[string]func(*evaluator, *functions) (Finding, bool){
		RuleFunctionTotal: (*evaluator).functionTotal, RuleCheapCalls: (*evaluator).cheapCalls, RuleNestedCost: (*evaluator).nestedCost,
	} {
		out = append(out, row{id: id, part: basisProfile, measure: ofProfiles(measure)})
	}
	return append(out,
		row{id: RuleWaiting, part: basisProfile, measure: func(c *evaluator) []reading {
			return slices.Concat(ofProfiles((*evaluator).waiting)(c), found(c.againstCPU(c.functionProfiles())))
		}},
		row{id: RuleFunctionSelf, part: basisProfile, under: []string{RuleFunctionTotal}, lower: true, measure: (*evaluator).functionSelf},
		row{id: RuleGrowingAverage, part: basisProfile, measure: func(c *evaluator) []reading { return found(c.growingAverage(c.functionProfiles())) }})
}

// single returns the measure function of a rule with at most one finding, which explains no
// other one.
func single(f func(*evaluator) (Finding, bool)) func(*evaluator) []reading {
	return func(c *evaluator) []reading { return found(f(c)) }
}

// found returns a finding as a reading.
func found(f Finding, ok bool) []reading {
	if !ok {
		return nil
	}
	return []reading{{Finding: f, reached: true}}
}

// ofProfiles returns the measure function of a rule about each profile.
func ofProfiles(f func(*evaluator, *functions) (Finding, bool)) func(*evaluator) []reading {
	return func(c *evaluator) (out []reading) {
		profiles := c.functionProfiles()
		for i := range profiles {
			out = append(out, found(f(c, &profiles[i]))...)
		}
		return out
	}
}
