package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// inCPUCollectives returns the idle time in ns in collectives that the CPU runs, the name with most of it, and its
// largest gaps.
func inCPUCollectives(c *Evaluator) (ns int64, name string, where []finding.Place) {
	ns, where = idleWithCause(c, func(r summary.Idle) bool { return r.State == summary.StateCollective })
	most := int64(0)
	for _, r := range c.Idle {
		if r.State == summary.StateCollective && r.NS > most {
			most, name = r.NS, r.Name
		}
	}
	return ns, name, where
}

// cpuCollectives judges the idle time in collectives that the CPU runs. As in those of GPUs, the rank that waits
// least comes last.
func cpuCollectives(c *Evaluator) []tree.Reading {
	ns, name, where := inCPUCollectives(c)
	w, matched := advice.WaitsOfRanks(c.Summary)
	late, _ := w.Late()
	what, waiting := "Collectives on the CPU: ", matched && w.Waiting()
	if waiting && len(late) > 0 {
		what = fmt.Sprintf("Waiting for %s in collectives on the CPU: ", w.Names(late))
	}
	r := causeOfIdle(c, rule.CPUCollectives, what, ns)
	r.Where, r.Next = where, []finding.Step{finding.Advise("nccl-for-gpu-tensors"),
		finding.Advise("find-what-it-waits-for", "what", strconv.Quote(finding.Short(name))).For("idle=wait")}
	if !matched {
		return r.IfReached()
	}
	r.Evidence = w.Evidence()
	for _, l := range late {
		why, _ := advice.WhyLate(w.Name(l), l)
		r.Evidence = slices.Concat(r.Evidence, []string{w.Share(l)}, why)
	}
	if !waiting {
		return r.IfReached()
	}
	if len(late) > 0 {
		r.Cause = w.Share(late[0])
		if why, _ := advice.WhyLate(w.Name(late[0]), late[0]); len(why) > 0 {
			r.Cause += "; " + strings.TrimPrefix(why[0], w.Name(late[0])+": ")
		}
	}
	r.Next = []finding.Step{w.Advice(), finding.Advise("nccl-for-gpu-tensors")}
	return r.IfReached()
}

// mostlyCPUCollectives reports whether at least half of the idle time is in collectives that the CPU runs.
func mostlyCPUCollectives(c *Evaluator) bool {
	ns, _, _ := inCPUCollectives(c)
	return ns > 0 && ns >= c.Total.Idle()-ns
}
