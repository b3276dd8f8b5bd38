package main

import (
	"fmt"
	"strings"

	"assay/gate"
	"assay/gate/metric"
	"assay/judge/rule"
)

// gatesHelp explains gate files.
const gatesHelp = `A gate file sets limits: one gate per metric and selector:

  gpu.busy_share: ">= 80%"                # targets: <=, >=, <, >, == and a value
  comm.exposed_share: "<= 5%"
  phase.mean{phase=weight_sync}: "<= 2s"
  memory.peak_share: {max: 90%, warn: "<= 80%"}
  step.median: {max_increase: 5%, min_abs: 1ms}      # against a baseline
  kernels.count_per_step{category=gemm}: {max_increase: 0%}
  graph.share: {max_decrease: 2pp, level: warn}
  single_run_noise: 20%                              # for all gates of the file; 20% if not set

  max, min, equal              target values: shares as 80%, times as 2s, sizes as 64GiB,
                               bandwidths as 300GB/s
  max_increase, max_decrease   5% of the baseline's value, or a difference: 1ms, 64MiB,
                               10; for shares in percentage points: 2pp
  min_abs                      a smaller difference is ignored, whatever its percentage
  warn                         limits of the same forms that only warn
  level: warn                  a failure of this gate only warns
  noise: 15%                   difference between single runs, for this gate (shares: points)
  if_measured: true            skip the gate if neither side has the metric
  source                       who set this gate, and why

A gate compares the medians of runs. A change of a steady metric fails if it is over its
limit. A change of any other metric needs a second condition:

  fewer than 5 runs on a side  it must exceed single_run_noise too: 20% of a time; a rate may
                               fall by 1 - 1/1.2 = 16.7%; shares may move by a quarter of it,
                               5 points. A baseline of 10 runs or more shows its noise: then
                               twice the largest distance of a run from their median suffices
  5 runs or more on each side  a rank test (Mann-Whitney, p < 0.01) must find that the runs
                               differ

If a change is over its limit but fails the second condition, the result is inconclusive: a
warning, or the result that --on-inconclusive sets. Steps of one run do not show how runs
differ, so assay never treats them as runs. 20% is right where runs of one program differ by
5% (standard deviation) or less; "assay help ci" has the rates, and what to do elsewhere.

A gate is an error (exit status 3) if its metric is not in the capture, or if its selector
selects nothing. Without --on-inconclusive it is also an error if the capture is unsuitable:
data-loss and suspect issues (lost records under 1 in 1,000 do not count), too little work,
or GPUs or a profiler that differ from the baseline's.

Use it with --gates FILE. --gates GUIDE has the targets of a tuning guide, which are below,
unless there is a file of that name. The metrics (a "steady" metric is the same in every run):

`

// gatesFile lists the metrics and the built-in gates.
func gatesFile() string {
	var b strings.Builder
	for _, m := range metric.Metrics() {
		kind := m.Unit.String()
		if m.Higher {
			kind += ", higher is better"
		}
		if m.Steady {
			kind += ", steady"
		}
		meaning := m.Meaning
		if m.Per != "" {
			meaning += " / " + m.Per
		}
		if m.Was != "" {
			meaning += "; " + m.Was + " is the same"
		}
		fmt.Fprintf(&b, "  %s{%s}\n      %s (%s)\n", m.Name, m.Listed(), meaning, kind)
	}
	b.WriteString(`
Selectors: category, class, kernel, op, copy and phase take a name, in which * matches any
text. device and rank take a number. steps takes a range of step numbers: 3, 3-5, 3-.
owner and state select idle time by cause. place takes labels of a log or monitor (gpu=0,
dp=*), source is log or benchmark. SETTING is a setting of a benchmark, such as
request_rate, concurrency, batch or tp, also with <=, >=, < and > if it is a number:
{request_rate<=8}. LIMIT is a limit of a number of a benchmark: serving.capacity{ttft_p99<=
500ms, tpot_p99<=50ms} is the highest load within both. A phase is one of "assay help
phases" with everything nested in it: generation, decode, weight-sync. In phase.* an
annotation of that name comes first. "assay check --explain METRIC" explains a metric and
its selectors. The default gates, used without --gates:

`)
	b.WriteString(gate.BuiltIn())
	for _, g := range rule.Guides() {
		fmt.Fprintf(&b, "\n# --gates %s\n%s", g, gate.Guide(g))
	}
	return b.String()
}
