package pictures

import (
	"assay/compare"
	"assay/judge"
	"assay/report/pictures/layers"
	"assay/report/pictures/logs"
	"assay/report/plot"
	"assay/summary"
)

// A picture is a picture of a report. Its draw returns false if the picture would be
// empty.
type picture struct {
	name string // name of the file, without its suffix
	draw func(*summary.Summary, judge.Result) (plot.Chart, bool)
}

// all returns the pictures of reports. Add a new picture here.
func all() []picture {
	return []picture{
		{"time-budget", timeBudget},
		{"activity", activity},
		{"critical-path", criticalPath},
		{"steps", measured(steps)},
		{"layers-typical", measured(layers.Typical)},
		{"layers", measured(layers.Times)},
		{"phases", measured(phases)},
		{"idle", idle},
		{"queue", queue},
		{"top-kernels", measured(topKernels)},
		{"top-operators", measured(topOperators)},
		{"top-modules", measured(topModules)},
		{"memory", measured(memory)},
		{"durations", measured(durations)},
		{"top-spans", measured(topSpans)},
		{"flame", measured(flame)},
		{"memory-reserved", measured(memoryReserved)},
		{"memory-owners", measured(memoryOwners)},
		{"memory-categories", measured(memoryCategories)},
		{"table-kernels", table(summary.OfKernel)},
		{"table-device-work", table(summary.OfDeviceOp)},
		{"table-copies", table(summary.OfCopy)},
		{"table-operators", table(summary.OfOp)},
		{"table-functions", table(summary.OfFunction)},
		{"table-threads", table(summary.OfThread)},
		{"table-calls", table(summary.OfCall)},
		{"table-ranges", table(summary.OfRange)},
		{"table-rows", table(summary.OfRow)},
		{"table-os-calls", table(summary.OfOSCall)},
		{"kernels-peaks", kernelsPeaks},
		{"efficiency-recoverable", measured(efficiencyRecoverable)},
		{"efficiency-roofline", measured(efficiencyRoofline)},
		{"ranks-waits", measured(ranksWaits)},
		{"ranks-budget", ranksBudget},
		{"ranks-activity", measured(ranksActivity)},
		{"ranks-time", measured(ranksTime)},
		{"ranks-phases", measured(ranksPhases)},
		{"ranks-steps", measured(ranksSteps)},
		{"log-job", measured(logs.Job)},
		{"log-roles", measured(logs.Roles)},
		{"log-steps", measured(logs.Steps)},
		{"log-phases", measured(logs.Phases)},
		{"log-latency", measured(logs.Latency)},
		{"log-sweep", measured(logs.Sweep)},
		{"log-server", measured(logs.Server)},
		{"log-monitor", measured(logs.Monitor)},
	}
}

// measured adapts a picture that needs only the summary.
func measured(draw func(*summary.Summary) (plot.Chart, bool)) func(*summary.Summary, judge.Result) (plot.Chart, bool) {
	return func(s *summary.Summary, _ judge.Result) (plot.Chart, bool) { return draw(s) }
}

// diffPicture is a picture of two runs.
type diffPicture struct {
	name string
	draw func(*compare.Comparison) (plot.Chart, bool)
}

// allDiff returns the pictures of comparisons. Add a new picture here.
func allDiff() []diffPicture {
	return []diffPicture{
		{"diff-budget", diffBudget},
		{"diff-waterfall", diffWaterfall},
		{"diff-steps", diffSteps},
		{"diff-kernels", diffKernels},
		{"diff-idle", diffIdle},
	}
}

// Files returns the names of all picture files that any report can have, in all formats. Files of this list
// that a new report does not have are from an older report and can be removed.
func Files() (files []string) {
	for _, p := range all() {
		c := plot.Chart{Name: p.name}
		files = append(files, c.File(), c.SVGFile())
	}
	return files
}

// Of returns the pictures of a summary and its result, in the order of the list. It omits
// empty pictures.
func Of(s *summary.Summary, r judge.Result) (out []plot.Chart) {
	s = s.Timelines()
	for _, p := range all() {
		if c, ok := p.draw(s, r); ok {
			c.Name = p.name
			out = append(out, c)
		}
	}
	return out
}

// ComparisonFiles returns the names of all picture files of comparisons.
func ComparisonFiles() (files []string) {
	for _, p := range allDiff() {
		c := plot.Chart{Name: p.name}
		files = append(files, c.File(), c.SVGFile())
	}
	return files
}

// OfComparison returns the pictures of a comparison. It omits empty pictures. A
// comparison without times has none.
func OfComparison(c *compare.Comparison) (out []plot.Chart) {
	if c.Per == compare.PerNone || c.Budget.BaseNS+c.Budget.NewNS == 0 {
		return nil
	}
	for _, p := range allDiff() {
		if chart, ok := p.draw(c); ok {
			chart.Name = p.name
			out = append(out, chart)
		}
	}
	return out
}
