package launches

import (
	"strings"

	"assay/analyze/gpu"
	"assay/internal/diag"
	"assay/trace"
)

// surplusOf returns how many records of GPU work the launch calls have beyond the first
// of each. A call that launches a kernel launches one operation, so the others were not
// written by the profiler, and which of them is true is not known.
//
// Launches of graphs and launches on several devices have many operations. Copies and
// memsets do not count, because drivers may split them. Neither do records whose call is
// not clear: those without a correlation, and those whose correlation several calls have.
// If several processes launch work, the records of each device count by themselves,
// because the call of another process may be missing.
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

// launchesOne reports whether a call of a name launches one kernel on one device.
func (n lossNames) launchesOne(name trace.Sym) bool {
	k := n.of(name)
	return k >= 0 && lossKinds[k].call == "launch" && !strings.Contains(n.t.Name(name), "MultiDevice")
}

// severalLaunch reports whether calls of several processes launched work.
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

// noteSurplus adds the issue of records beyond one per launch, of so many of all devices.
func (l *Links) noteSurplus(records int64, issues *diag.Ledger) {
	severity := diag.Info
	<-l.found
	if float64(l.surplus) > gpu.RepeatedShare*float64(records) {
		severity = diag.Suspect
	}
	issues.AddN(diag.Issue{Code: "launches-with-several-kernels", Severity: severity}, l.surplus)
}
