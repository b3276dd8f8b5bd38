package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"assay/summary"
	"assay/unit"
)

// An ownerShare is the idle time of all GPUs with one cause, and for host wait one
// state of the CPU.
type ownerShare struct {
	owner, state string
	ns, longest  int64
	count        int64  // idle intervals
	name         string // the name with the most of this time
	most         int64  // the time of name
}

// owners returns the causes of the idle time, the largest share first.
func (c *evaluator) owners() []ownerShare {
	type key struct{ owner, state string }
	index := map[key]int{}
	byName := map[summary.Idle]int64{}
	var out []ownerShare
	for _, r := range c.Idle {
		k := key{r.Owner, r.State}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, ownerShare{owner: r.Owner, state: r.State})
		}
		o := &out[i]
		o.ns, o.longest, o.count = summary.Plus(o.ns, r.NS), max(o.longest, r.MaxNS), summary.Plus(o.count, r.Count)
		name := summary.Idle{Owner: r.Owner, State: r.State, Name: r.Name}
		byName[name] = summary.Plus(byName[name], r.NS)
		if n := byName[name]; n > o.most || n == o.most && r.Name < o.name {
			o.name, o.most = r.Name, n
		}
	}
	slices.SortFunc(out, func(a, b ownerShare) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.owner, b.owner), cmp.Compare(a.state, b.state))
	})
	return out
}

// mainOwners returns the causes that decide on advice: those with at least a fifth of
// the idle time, at most three, and always the largest.
func mainOwners(owners []ownerShare, total int64) []ownerShare {
	n := 0
	for n < min(3, len(owners)) && (n == 0 || owners[n].ns >= total/5) {
		n++
	}
	return owners[:n]
}

// causeWords has the display names of causes of idle time and of states of the CPU,
// by their ids.
var causeWords = map[string]string{
	summary.OwnerHost: "host wait", summary.OwnerLaunch: "launch latency", summary.OwnerBetween: "kernel wait",
	summary.OwnerDependency: "dependency wait", summary.OwnerNothing: "profiler overhead",
	summary.OwnerOpaque: "CUDA graph without node trace", summary.OwnerUnknown: "unattributed",

	summary.StateSync: "synchronization", summary.StateCopy: "memory copy call", summary.StateAlloc: "cudaMalloc/cudaFree",
	summary.StateLaunch: "other launch", summary.StateCall: "other CUDA call", summary.StateData: "data loading",
	summary.StateOp: "CPU operator", summary.StatePython: "Python code", summary.StateAnnotation: "annotated range",
	summary.StateOS: "OS call", summary.StateOff: "off CPU", summary.StateUnrecorded: "not recorded",
}

// causeText returns the display name of a cause of idle time: "host wait: Python code".
func causeText(owner, state string) string {
	text := cmp.Or(causeWords[owner], owner)
	if state != "" {
		text += ": " + cmp.Or(causeWords[state], state)
	}
	return text
}

// ownerEvidence returns a line for each of the largest causes.
func ownerEvidence(owners []ownerShare, total int64) (out []string) {
	for _, o := range mainOwners(owners, total) {
		line := fmt.Sprintf("%s: %s of the idle time (%s)", causeText(o.owner, o.state), unit.Share(o.ns, total), fraction(o.ns, total))
		if o.name != "" {
			line += fmt.Sprintf(", mainly in %q (%s)", short(o.name), unit.Duration(o.most))
		}
		out = append(out, line)
	}
	return out
}

// ownerAdvice returns the fixes for the largest causes, in their order.
func ownerAdvice(owners []ownerShare, total int64) (out []Step) {
	for _, o := range mainOwners(owners, total) {
		out = joinSteps(out, o.advice())
	}
	return out
}

func (o ownerShare) advice() []Step {
	switch o.owner {
	case summary.OwnerLaunch:
		if o.longest >= longGap {
			return []Step{advise("leave-out-first-launches"), advise("launch-less")}
		}
		return []Step{advise("launch-less"), advise("launch-more-each")}
	case summary.OwnerBetween:
		return []Step{advise("launch-more-each"), advise("launch-less")}
	case summary.OwnerDependency:
		return []Step{advise("find-the-dependency")}
	case summary.OwnerNothing:
		return []Step{advise("leave-out-the-profiler")}
	case summary.OwnerOpaque:
		return []Step{advise("record-graph-nodes")}
	case summary.OwnerUnknown:
		return []Step{advise("begin-earlier")}
	}
	switch o.state {
	case summary.StateSync:
		return []Step{advise("remove-synchronization")}
	case summary.StateCopy:
		return []Step{advise("copy-without-waiting")}
	case summary.StateAlloc:
		return []Step{advise("allocate-less"), advise("expandable-segments")}
	case summary.StateData:
		return []Step{advise("load-data-ahead")}
	case summary.StateOS:
		return []Step{advise("find-what-the-os-call-waits-for"), advise("start-awaited-work-earlier")}
	case summary.StateOff:
		return []Step{advise("give-cores"), advise("pin-to-the-numa-node"), advise("record-os-calls")}
	case summary.StateUnrecorded:
		return []Step{advise("record-the-cpu")}
	}
	if o.name != "" && o.count > 0 && o.ns/o.count >= longGap {
		// A launch does not take this long: the CPU did other work.
		return []Step{advise("move-off-the-launching-thread", "what", strconv.Quote(short(o.name)))}
	}
	return []Step{advise("launch-less"), advise("launch-more-each")}
}
