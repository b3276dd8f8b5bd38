package main

import (
	"fmt"
	"strings"

	"assay/gate"
)

// gatesHelp explains gate files.
const gatesHelp = `A gate file says what metrics may be, one gate a metric and selection:

  gpu.busy_share: ">= 80%"                # targets: <=, >=, <, >, == and a value
  comm.exposed_share: "<= 5%"
  phase.mean{phase=weight_sync}: "<= 2s"
  memory.peak_share: {max: 90%, warn: "<= 80%"}
  step.median: {max_increase: 5%, min_abs: 1ms}      # against a baseline
  kernel.count_per_step{category=gemm}: {max_increase: 0%}
  graph.share: {max_decrease: 2pp, level: warn}

  max, min, equal              target values: shares as 80%, times as 2s, sizes as 64GiB
  max_increase, max_decrease   5% of the baseline's value, or a difference: 1ms, 64MiB,
                               10, and of shares percentage points: 2pp
  min_abs                      a smaller difference does not count, whatever its share
  warn                         limits of the same forms that only warn
  level: warn                  a failure of this gate only warns
  noise: 15%                   by how much single runs differ (shares: points; 5% if not set)
  if_measured: true            leave the gate out where neither side has the metric
  source                       who wants it so

A gate compares the medians of runs. With 5 runs or more on each side a change of what
is not steady fails if it is over its limit and a rank test (Mann-Whitney, p < 0.01) says
that the runs differ. With fewer it fails if it is over its limit and over the noise.
Between both it is inconclusive: that warns, or what --on-inconclusive says. Steps of one
run say nothing of how runs differ and are never taken for runs.

A gate whose metric is not in the capture, or whose selector selects nothing, is an
error, exit status 3. So is one of a capture that cannot tell, unless --on-inconclusive is
given: data-loss and suspect issues (single lost records under 1 in 1,000 do not count),
too little work, other devices or another profiler than the baseline's.

Use it with --gates FILE. The metrics ("steady" ones are the same in every run):

`

// gatesFile lists the metrics and the built-in gates.
func gatesFile() string {
	var b strings.Builder
	for _, m := range gate.Metrics() {
		kind := m.Unit.String()
		if m.Higher {
			kind += ", higher is better"
		}
		if m.Steady {
			kind += ", steady"
		}
		fmt.Fprintf(&b, "  %s{%s}\n      %s (%s)\n", m.Name, strings.Join(m.Keys, ", "), m.Meaning, kind)
	}
	b.WriteString(`
Selectors: category, class, kernel, op, copy and phase take a name, in which * stands for
anything; device and rank a number; steps a range of step numbers: 3, 3-5, 3-; owner and
state those of idle time. Phases are annotations in phase.*, and elsewhere what "assay
help phases" makes of them, each with what lies in it: generation, decode, weight-sync.
The gates where --gates is not given:

`)
	return b.String() + gate.BuiltIn()
}
