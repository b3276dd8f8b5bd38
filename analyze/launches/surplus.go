package launches

import (
	"strings"

	"assay/analyze/gpu"
	"assay/internal/diag"
	"assay/trace"
)

// surplusOf returns the number of GPU records beyond the first one of each kernel launch. Such a
// call launches one operation, so the profiler did not write the other records, and there is no
// way to know which one is true.
//
// Graph launches and launches on several devices do not count, because they have many operations.
// Nor do copies and memsets, which drivers may split, and records without a unique call. If
// several processes launch work, each device may have a record per launch, because the call of
// another process may be missing.
func surplusOf(t *trace.Trace, l *Links) (n int64) {
	kinds := newLossKinds(t)
	var suspects map[int32]bool
	for i := range l.List {
		k := &l.List[i]
		if k.Work < 2 || !k.called {
			continue
		}
		if c := l.Call(int32(i)); c.Correlation == 0 || l.calls.rivals[c.Correlation] != nil || !kinds.launchesOne(c.Name) {
			continue
		}
		if suspects == nil {
			suspects = make(map[int32]bool)
		}
		suspects[int32(i)] = true
	}
	if suspects == nil {
		return 0
	}
	apart := severalLaunch(t, l)
	type place struct {
		link   int32
		device int64
	}
	seen := make(map[place]bool)
	i := -1
	for a := range t.Activities.All() {
		i++
		if !suspects[l.Of[i]] || t.Detail(a.Detail).GraphID > 0 {
			continue
		}
		at := place{link: l.Of[i]}
		if apart {
			at.device = t.Tracks[a.Track].Device
		}
		if seen[at] {
			n++
		}
		seen[at] = true
	}
	return n
}

// launchesOne reports whether calls of this name launch one kernel on one device.
func (n lossNames) launchesOne(name trace.Sym) bool {
	k := n.of(name)
	return k >= 0 && lossKinds[k].call == "launch" && !strings.Contains(n.t.Name(name), "MultiDevice")
}

// severalLaunch reports whether several processes launched work.
func severalLaunch(t *trace.Trace, l *Links) bool {
	first := ""
	for i := range l.List {
		if k := &l.List[i]; k.called {
			pid := t.Tracks[k.Track].PID
			if first == "" {
				first = pid
			}
			if pid != first {
				return true
			}
		}
	}
	return false
}

// noteSurplus adds an issue for surplus records. records is the number of all GPU records.
func (l *Links) noteSurplus(records int64, issues *diag.Ledger) {
	severity := diag.Info
	<-l.found
	if float64(l.surplus) > gpu.RepeatedShare*float64(records) {
		severity = diag.Suspect
	}
	issues.AddN(diag.Issue{Code: "launches-with-several-kernels", Severity: severity}, l.surplus)
}
