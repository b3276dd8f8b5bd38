package ascend

import (
	"fmt"
	"strings"

	"assay/internal/diag"
	"assay/internal/interval"
	"assay/internal/unit"
	"assay/trace"
)

// parts are the lanes of the overlap analysis of the profiler.
var parts = []string{"Computing", "Communication", "Communication(Not Overlapped)", "Free"}

// A stated is what the overlap analysis of one device says.
type stated struct {
	sums map[string]int64 // ns by lane
}

// checkOverlap compares the overlap analysis that the profiler wrote with the work of each device. The spans of its lanes
// stay on the tracks that repeat work.
func checkOverlap(t *trace.Trace, l *lanes) {
	all := make(map[int64]*stated)
	for s := range t.Spans.All() {
		on := &t.Tracks[s.Track]
		if on.Process != overlap {
			continue
		}
		device := l.devices[on.PID]
		if all[device] == nil {
			all[device] = &stated{sums: make(map[string]int64)}
		}
		name := t.Name(s.Name)
		all[device].sums[name] += s.Dur
	}
	if len(all) == 0 {
		return
	}
	work, _ := workOf(t)
	for device, says := range all {
		if w := work[device]; w != nil {
			says.compare(t, device, interval.Of(w[0]...), interval.Of(w[1]...))
		}
	}
}

// workOf returns the times of compute and of collectives of each device, and from when to when it works.
func workOf(t *trace.Trace) (work map[int64]*[2][]interval.Span, ends map[int64]interval.Span) {
	work, ends = make(map[int64]*[2][]interval.Span), make(map[int64]interval.Span)
	for a := range t.Activities.All() {
		on := &t.Tracks[a.Track]
		if work[on.Device] == nil {
			work[on.Device] = new([2][]interval.Span)
			ends[on.Device] = interval.Span{Start: a.Start, End: a.End()}
		}
		e := ends[on.Device]
		ends[on.Device] = interval.Span{Start: min(e.Start, a.Start), End: max(e.End, a.End())}
		if of := work[on.Device]; t.Detail(a.Detail).Collective.Name != 0 {
			of[1] = append(of[1], interval.Span{Start: a.Start, End: a.End()})
		} else if a.Kind == trace.Kernel {
			of[0] = append(of[0], interval.Span{Start: a.Start, End: a.End()})
		}
	}
	return work, ends
}

// slack is the part of a time, and least the time in ns, by which two sums of many rounded times may differ.
const (
	slack = 100
	least = 10_000
)

// compare adds an issue for lanes whose sums are not those of the work. Free is not compared: it ends with tasks that are
// no work.
func (s *stated) compare(t *trace.Trace, device int64, compute, comm interval.Set) {
	ours := map[string]int64{parts[0]: compute.Len(), parts[1]: comm.Len(), parts[2]: comm.Sub(compute).Len()}
	var differ []string
	for _, part := range parts[:3] {
		if by := ours[part] - s.sums[part]; max(by, -by) > max(least, ours[part]/slack) {
			differ = append(differ, fmt.Sprintf("%s %s, where the tasks yield %s", part, unit.Duration(s.sums[part]), unit.Duration(ours[part])))
		}
	}
	if len(differ) == 0 {
		return
	}
	t.Issues = append(t.Issues, diag.Issue{Code: "overlap-differs", Severity: diag.Suspect, Count: 1, First: diag.Pos{File: t.File},
		Help: fmt.Sprintf("The overlap analysis of the profiler has other sums than the tasks of NPU %d: %s. assay computes with the tasks.", device, strings.Join(differ, "; "))})
}
