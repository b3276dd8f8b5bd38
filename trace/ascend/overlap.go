package ascend

import (
	"fmt"
	"io"
	"math"
	"strings"

	"assay/internal/database"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/internal/unit"
	"assay/trace"
)

// parts are the lanes of the overlap analysis of the profiler.
var parts = []string{"Computing", "Communication", "Communication(Not Overlapped)", "Free"}

// overlapped is the column of communication during which the device computes.
const overlapped = "Overlapped"

// A stated is what the overlap analysis of one device says: ns by lane.
type stated map[string]int64

// checkOverlap compares the overlap analysis that the profiler wrote with the work of each device. The spans of its lanes
// stay on the tracks that repeat work.
func checkOverlap(t *trace.Trace, l *lanes) {
	all := make(map[int64]stated)
	for s := range t.Spans.All() {
		on := &t.Tracks[s.Track]
		if on.Process != overlap {
			continue
		}
		device := l.devices[on.PID]
		if all[device] == nil {
			all[device] = make(stated)
		}
		name := t.Name(s.Name)
		all[device][name] += s.Dur
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
func (s stated) compare(t *trace.Trace, device int64, compute, comm interval.Set) {
	ours := map[string]int64{parts[0]: compute.Len(), parts[1]: comm.Len(), parts[2]: comm.Sub(compute).Len()}
	var differ []string
	for _, part := range parts[:3] {
		if by := ours[part] - s[part]; max(by, -by) > max(least, ours[part]/slack) {
			differ = append(differ, fmt.Sprintf("%s %s, where the tasks yield %s", part, unit.Duration(s[part]), unit.Duration(ours[part])))
		}
	}
	if len(differ) == 0 {
		return
	}
	t.Issues = append(t.Issues, diag.Issue{Code: "overlap-differs", Severity: diag.Suspect, Count: 1, First: diag.Pos{File: t.File},
		Help: fmt.Sprintf("The overlap analysis of the profiler has other sums than the tasks of NPU %d: %s. assay computes with the tasks.", device, strings.Join(differ, "; "))})
}

// mostOutside is the part of the time of a capture, as a divisor, that may be outside the steps whose sums are compared.
const mostOutside = 20

// against compares the sums of steps with the work of the only device of a trace. It returns false if the steps are not
// nearly all of the trace.
func (s stated) against(t *trace.Trace, steps int64) bool {
	work, ends := workOf(t)
	if len(work) != 1 {
		return false
	}
	s[parts[1]] = s[parts[2]] + s[overlapped]
	for device, w := range work {
		whole := ends[device].End - ends[device].Start
		if steps < whole-whole/mostOutside || steps > whole+whole/mostOutside {
			return false
		}
		s.compare(t, device, interval.Of(w[0]...), interval.Of(w[1]...))
	}
	return true
}

// CompareSteps compares the sums of a table of steps with the work of the only device of a trace, if the steps are nearly
// all of it. The table is of the same capture.
func CompareSteps(t *trace.Trace, in io.Reader, file string) {
	tables, err := ReadSteps(in, file, 0)
	if err != nil {
		return
	}
	says := make(stated)
	table := tables.List[0]
	for i, c := range stepColumns[:4] {
		says[c[1]] = table.Sum(i + 1).Value
	}
	says.against(t, table.Sum(0).Value)
}

// CompareAnalysis does the same with the table StepTraceTime of analysis.db. Its documentation says ms, and files have the
// µs of step_trace_time.csv: the unit is the one in which the steps are as long as the trace.
func CompareAnalysis(t *trace.Trace, path string) {
	db, err := database.Open(path)
	if err != nil {
		return
	}
	defer db.Close()
	var sums [4]float64
	usable := true
	columns := []string{"computing", "communication_not_overlapped", "free", "overlapped"}
	err = db.Scan(stepTable, columns, func(row *database.Row) bool {
		for i := range sums {
			usable = usable && !row.Null(i) && !row.NotNumber(i) && row.Float(i) >= 0
			sums[i] += row.Float(i)
		}
		return usable
	})
	if err != nil || !usable {
		return
	}
	for _, ns := range []float64{1e3, 1e6} {
		says := make(stated)
		if sums[0]+sums[1]+sums[2] > math.MaxInt64/2/ns || sums[3] > math.MaxInt64/2/ns {
			continue
		}
		for i, c := range stepColumns[:4] {
			says[c[1]] = int64(math.Round(sums[i] * ns))
		}
		if says.against(t, says[parts[0]]+says[parts[2]]+says[parts[3]]) {
			return
		}
	}
}
