package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/summary"
	"assay/summary/view"
)

// LongGap is the length in ns from which a gap is attributed to work of the CPU rather than to
// launches. It is an edge of [summary.Histogram], so sums above it are exact.
const LongGap = 1_000_000

// An OwnerShare is the idle time of all GPUs that has one cause and, for host waits, one state of
// the CPU.
type OwnerShare struct {
	owner, state string
	ns, longest  int64
	short        int64  // ns in gaps shorter than [summary.ShortGapNS]
	count        int64  // number of idle intervals
	name         string // the function or operator with the most of this time
	most         int64  // ns in name
}

// Owners adds up rows of idle time by cause, the largest share first.
func Owners(rows []summary.Idle) []OwnerShare {
	type key struct{ owner, state string }
	index := map[key]int{}
	byName := map[summary.Idle]int64{}
	var out []OwnerShare
	for _, r := range rows {
		k := key{r.Owner, r.State}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, OwnerShare{owner: r.Owner, state: r.State})
		}
		o := &out[i]
		o.ns, o.longest, o.count = o.ns+r.NS, max(o.longest, r.MaxNS), o.count+r.Count
		o.short += r.ShortGapsNS
		name := summary.Idle{Owner: r.Owner, State: r.State, Name: r.Name}
		byName[name] += r.NS
		if n := byName[name]; n > o.most || n == o.most && r.Name < o.name {
			o.name, o.most = r.Name, n
		}
	}
	slices.SortFunc(out, func(a, b OwnerShare) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.owner, b.owner), cmp.Compare(a.state, b.state))
	})
	return out
}

// mainOwners returns the causes that deserve advice: the largest, and up to two more with at least
// a fifth of total, the idle time in ns.
func mainOwners(owners []OwnerShare, total int64) []OwnerShare {
	n := 0
	for n < min(3, len(owners)) && (n == 0 || owners[n].ns >= total/5) {
		n++
	}
	return owners[:n]
}

// OwnerEvidence returns a line for each main cause; total is the idle time in ns.
func OwnerEvidence(owners []OwnerShare, total int64) (out []string) {
	for _, o := range mainOwners(owners, total) {
		line := fmt.Sprintf("%s: %s of the idle time (%s)", view.Cause(o.owner, o.state), unit.Share(o.ns, total),
			unit.DurationOf(o.ns, total))
		if o.name != "" {
			line += fmt.Sprintf(", mainly in %q (%s)", finding.Short(o.name), unit.Duration(o.most))
		}
		out = append(out, line)
	}
	return out
}

// OwnerAdvice returns the fixes for the main causes, the largest first; total is the idle time in
// ns.
func OwnerAdvice(owners []OwnerShare, total int64) (out []finding.Step) {
	// Work on another GPU is a reason to divide the work in another way only if it is most of the time.
	main := slices.DeleteFunc(slices.Clone(owners), func(o OwnerShare) bool {
		return o.owner == summary.OwnerNeighbor && o.ns < total-o.ns
	})
	for _, o := range mainOwners(main, total) {
		out = finding.JoinSteps(out, o.advice())
	}
	return out
}

func (o OwnerShare) advice() []finding.Step {
	switch o.owner {
	case summary.OwnerLaunch:
		if strings.HasPrefix(o.name, "aclopCompile") {
			return []finding.Step{finding.Advise("compile-operators-ahead"), finding.Advise("launch-more-each")}
		}
		if LaunchesGraph(o.name) && o.ns/max(1, o.count) >= summary.ShortGapNS {
			return []finding.Step{finding.Advise("launch-the-graph-ahead")}
		}
		if o.longest >= LongGap {
			return []finding.Step{finding.Advise("leave-out-first-launches")}
		}
		return []finding.Step{finding.Advise("launch-less"), finding.Advise("launch-more-each")}
	case summary.OwnerBetween:
		return []finding.Step{finding.Advise("launch-more-each")}
	case summary.OwnerDependency:
		return []finding.Step{finding.Advise("find-the-dependency").For("idle=dependency")}
	case summary.OwnerNeighbor:
		return []finding.Step{finding.Advise("work-at-the-same-time")}
	case summary.OwnerNothing:
		return []finding.Step{finding.Advise("leave-out-the-profiler")}
	case summary.OwnerOpaque:
		return []finding.Step{finding.Advise("record-graph-nodes")}
	case summary.OwnerUnknown:
		return []finding.Step{finding.Advise("begin-earlier")}
	}
	switch o.state {
	case summary.StateSync:
		return []finding.Step{finding.Advise("remove-synchronization")}
	case summary.StateCopy:
		return []finding.Step{finding.Advise("copy-without-waiting")}
	case summary.StateAlloc:
		return []finding.Step{finding.Advise("allocate-less"), finding.Advise("expandable-segments")}
	case summary.StateData:
		return []finding.Step{finding.Advise("load-data-ahead")}
	case summary.StateCollective:
		return []finding.Step{finding.Advise("find-what-it-waits-for", "what", strconv.Quote(finding.Short(o.name))).For("idle=wait")}
	case summary.StateCollector:
		return []finding.Step{finding.Advise("schedule-garbage-collection")}
	case summary.StateOS:
		return []finding.Step{finding.Advise("find-what-the-os-call-waits-for").For("idle=os-call"), finding.Advise("start-awaited-work-earlier").For("idle=os-call")}
	case summary.StateOff:
		return []finding.Step{finding.Advise("give-cores").For("cpu-late"), finding.Advise("pin-to-the-numa-node").For("cpu-late"),
			finding.Advise("record-os-calls")}
	case summary.StateUnrecorded:
		return []finding.Step{finding.Advise("record-the-cpu")}
	}
	if o.state == summary.StateAnnotation && o.short < o.ns-o.short {
		// The gaps are long, and the annotation around them does not say what the CPU did.
		return []finding.Step{finding.Advise("find-what-runs-in-the-gaps").For("idle=unnamed"), finding.Advise("record-the-cpu")}
	}
	if IsWait(o.name) {
		return []finding.Step{finding.Advise("find-what-it-waits-for", "what", strconv.Quote(finding.Short(o.name))).For("idle=wait")}
	}
	if (o.state == summary.StateAnnotation || o.state == summary.StatePython) && IsCodeBetween(o.ns, o.count) && o.ns/o.count < LongGap {
		return CodeAdvice()
	}
	if o.name != "" && o.count > 0 && o.ns/o.count >= LongGap {
		// A launch does not take this long, so the CPU did other work.
		return []finding.Step{finding.Advise("move-off-the-launching-thread", "what", strconv.Quote(finding.Short(o.name))).For("idle=code")}
	}
	return []finding.Step{finding.Advise("launch-less"), finding.Advise("launch-more-each")}
}

// longCode is the mean length in ns of gaps from which code between launches does more than call the next
// operator, which takes Python a few microseconds.
const longCode = 20_000

// IsCodeBetween reports whether idle time in code that is neither an operator nor a call is work of this
// code: a graph launches faster, but it does not do this work.
func IsCodeBetween(ns, gaps int64) bool { return gaps > 0 && ns/gaps >= longCode }

// CodeAdvice returns the fixes for code between launches.
func CodeAdvice() []finding.Step {
	return []finding.Step{finding.Advise("shorten-code-between-launches"), finding.Advise("record-the-cpu")}
}

// LaunchesGraph reports whether a call launches a CUDA or HIP graph.
func LaunchesGraph(call string) bool { return strings.Contains(call, "GraphLaunch") }

// waits matches the names of Python functions and operators that only wait for another thread,
// process or rank.
var waits = lazyregexp.New(`(?i)^<built-in (function|method) (sleep|acquire|select|e?poll|wait|recv\w*)\b` +
	`|(^|/)(threading|queue|selectors|socket|multiprocessing/\w+|concurrent/futures/\w+)\.py\(\d+\): (wait|get|join|acquire|select|_?poll|_?recv\w*|result|accept)$` +
	`|(^|/)asyncio/\w+\.py\(\d+\): (run_until_complete|run_forever|_run_once)$` +
	`|(^|/)zmq/.*: (recv\w*|poll)$|(^|/)ray/_private/worker\.py\(\d+\): (get|wait)$` +
	`|distributed_c10d\.py\(\d+\): (\w*barrier|\w+_object\w*)$|^gloo:`)

// IsWait reports whether the function or operator of this name waits instead of computing. Moving a
// wait to another thread does not help.
func IsWait(name string) bool { return mayWait(name) && waits().MatchString(name) }

// mayWait is a cheap filter for waits, by the beginning and the last word of a name. It rejects
// most names faster than the regular expression, and without compiling it.
func mayWait(name string) bool {
	const most = 256 // longer names and non-ASCII names go straight to the expression
	if len(name) > most || strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) {
		return true
	}
	name = strings.ToLower(name)
	if strings.HasPrefix(name, "<built-in ") || strings.HasPrefix(name, "gloo:") {
		return true
	}
	last := name[strings.LastIndex(name, ": ")+1:] // the function of "FILE(LINE): NAME"
	return slices.ContainsFunc([]string{"wait", "get", "join", "acquire", "select", "poll", "recv", "result", "accept",
		"run_", "barrier", "_object"},
		func(part string) bool { return strings.Contains(last, part) })
}
