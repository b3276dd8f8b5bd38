package gpu

import (
	"assay/analyze/classify"
	"assay/trace"
)

// RepeatedShare is the share of repeated records of GPU work above which a capture is suspect:
// the profiler alone does not write such a file.
const RepeatedShare = 0.05

// Repeated returns the records of GPU work that repeat an earlier record of the file. A record
// is repeated if another one has the same correlation, stream, name, start, duration and launch
// properties: one call launches one operation, and a stream runs one at a time.
//
// The launch of a graph has many operations with one correlation, and equal ones may run at the
// same time. They are repeated only if the whole launch is: if it has several different
// operations and each occurs equally often. A record without a correlation counts only if it
// belongs to no graph and takes at least shortestCopy.
func (tl *Timeline) Repeated() map[trace.Ref]bool {
	var drop map[trace.Ref]bool
	for _, d := range tl.Devices {
		for i := 0; i < len(d.Work); {
			n := 1
			for i+n < len(d.Work) && d.Work[i+n].Start == d.Work[i].Start && d.Work[i+n].Dur == d.Work[i].Dur {
				n++
			}
			if n > 1 {
				drop = tl.equal(d.Work[i:i+n], drop)
			}
			i += n
		}
	}
	if len(drop) == 0 {
		return nil
	}
	return tl.withoutGraphs(drop)
}

// shortestCopy is the shortest duration, in ns, of a repeated record without a correlation. In
// traces with times in whole microseconds, shorter operations of one stream may really have the
// same start and duration.
const shortestCopy = 2000

// equal adds the records of a group that equal an earlier one to drop. The records of a group
// have the same start and duration.
func (tl *Timeline) equal(group []Work, drop map[trace.Ref]bool) map[trace.Ref]bool {
	seen := make(map[trace.Activity]bool, len(group))
	for _, w := range group {
		a := tl.Activity(w)
		if a.Correlation == 0 && (a.Dur < shortestCopy || tl.Trace.Detail(a.Detail).GraphID > 0) {
			continue
		}
		if !seen[*a] {
			seen[*a] = true
			continue
		}
		if drop == nil {
			drop = make(map[trace.Ref]bool)
		}
		drop[w.ref] = true
	}
	return drop
}

// withoutGraphs removes records from drop that belong to graph launches that are not repeated as
// a whole.
func (tl *Timeline) withoutGraphs(drop map[trace.Ref]bool) map[trace.Ref]bool {
	type launch struct {
		graph    bool
		records  map[trace.Activity]int
		repeated bool
	}
	launches := make(map[trace.ID]*launch)
	for ref := range drop {
		if id := tl.Trace.Activities.At(ref).Correlation; id != 0 {
			launches[id] = &launch{records: make(map[trace.Activity]int)}
		}
	}
	for a := range tl.Trace.Activities.All() {
		if l := launches[a.Correlation]; l != nil {
			l.records[*a]++
			l.graph = l.graph || tl.Trace.Detail(a.Detail).GraphID > 0
		}
	}
	for c := range tl.Trace.Calls.All() {
		if l := launches[c.Correlation]; l != nil && classify.CallKind(tl.Trace.Name(c.Name)) == "graph-launch" {
			l.graph = true
		}
	}
	for _, l := range launches {
		times := 0
		l.repeated = len(l.records) > 1
		for _, n := range l.records {
			if times == 0 {
				times = n
			}
			l.repeated = l.repeated && n == times
		}
	}
	for ref := range drop {
		if l := launches[tl.Trace.Activities.At(ref).Correlation]; l != nil && l.graph && !l.repeated {
			delete(drop, ref)
		}
	}
	return drop
}
