package steps

import (
	"slices"

	"assay/analyze/launches"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

const (
	silentBins    = 64   // parts of the time from the first to the last call
	leastSilent   = 7    // parts in a row without a call; 11% of the time
	fewestSilent  = 10   // launching operators in them
	alwaysLaunch  = 0.95 // of the other instances of an operator that launches work whenever it runs
	fewestOthers  = 3    // other instances that show this
	silentDensity = 0.5  // operators in the silent parts per time, over those in the other parts
)

// NoteSilent adds an issue if the trace has no call for a while, although the launching thread runs
// operators that launch work whenever they run elsewhere, about as often as elsewhere: their calls,
// and with them GPU work, were probably not recorded. Operators that a compiler traces or that work
// on the CPU look like this too, so their time stays idle time.
func NoteSilent(t *trace.Trace, l *launches.Links, issues *diag.Ledger) {
	whole, silent := silence(t)
	if silent.Empty() || l.Called == 0 {
		return
	}
	starts := launchStarts(l)
	type seen struct{ in, out, launched int }
	names := make(map[trace.Sym]*seen)
	for o := range t.Ops.All() {
		list := starts[o.Track]
		if len(list) == 0 {
			continue
		}
		n := names[o.Name]
		if n == nil {
			n = new(seen)
			names[o.Name] = n
		}
		switch i, _ := slices.BinarySearch(list, o.Start); {
		case i < len(list) && list[i] < o.Start+o.Dur:
			n.out++
			n.launched++
		case o.Start >= silent.Start && o.Start+o.Dur <= silent.End:
			n.in++
		default:
			n.out++
		}
	}
	in, out := 0, 0
	for _, n := range names {
		if n.launched >= fewestOthers && float64(n.launched) >= alwaysLaunch*float64(n.out) {
			in, out = in+n.in, out+n.out
		}
	}
	others := float64(whole.Len() - silent.Len())
	if in >= fewestSilent && float64(in)*others >= silentDensity*float64(out)*float64(silent.Len()) {
		issues.AddN(diag.Issue{Code: summary.OperatorsWithoutCalls, Severity: diag.Info}, int64(in))
	}
}

// launchStarts returns the starts of the launch calls of each thread, sorted.
func launchStarts(l *launches.Links) map[trace.TrackID][]int64 {
	starts := make(map[trace.TrackID][]int64)
	for i := range l.List {
		if k := &l.List[i]; l.HasCall(int32(i)) {
			starts[k.Track] = append(starts[k.Track], k.Start)
		}
	}
	for _, list := range starts {
		slices.Sort(list)
	}
	return starts
}

// silence returns the time from the first to the last call, and the longest part of it without a
// call, to the precision of a bin. It is empty if no part is long enough.
func silence(t *trace.Trace) (whole, silent interval.Span) {
	first := true
	for c := range t.Calls.All() {
		if first {
			whole, first = interval.Span{Start: c.Start, End: c.Start}, false
		}
		whole.Start, whole.End = min(whole.Start, c.Start), max(whole.End, c.Start)
	}
	length := whole.Len()/silentBins + 1
	if length < silentBins {
		return whole, silent
	}
	var used [silentBins + 1]bool
	for c := range t.Calls.All() {
		last := min((c.Start+c.Dur-whole.Start)/length, silentBins)
		for i := (c.Start - whole.Start) / length; i <= last; i++ {
			used[i] = true
		}
	}
	empty := int64(0)
	for i, used := range used {
		if empty++; used {
			empty = 0
		}
		if end := whole.Start + int64(i+1)*length; empty >= leastSilent && empty*length > silent.Len() {
			silent = interval.Span{Start: end - empty*length, End: end}
		}
	}
	return whole, silent
}
