package launches

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/runsort"
	"assay/trace"
)

// A callIndex finds calls by their correlation. It is a sorted list and not a table, because
// correlations may be far apart. Calls and their work come in nearly the order of correlations,
// so each search starts where the last one ended.
type callIndex struct {
	t      *trace.Trace
	calls  []correlated         // sorted
	at     int                  // result of the last search in calls
	rivals map[trace.ID]*rivals // for the correlations of several calls
	owner  map[int64]string     // by device: the pid that launched most of its unambiguous work
}

// A correlated is a call: its correlation in the upper half of the number, its Ref in the lower.
type correlated uint64

func (c correlated) id() trace.ID   { return trace.ID(c >> 32) }
func (c correlated) ref() trace.Ref { return trace.Ref(c) }

// rivals are the calls that share a correlation, sorted by start: of all processes together, by
// process, and by the label of the process. A call that is nested in another of them is left out:
// the runtime's call counts, not the driver's call in it.
type rivals struct {
	all            []rival
	byPID, byLabel map[string][]rival
	work           int // number of activities with the correlation
}

type rival struct {
	*trace.Call
	ref trace.Ref
}

func callsByCorrelation(t *trace.Trace) *callIndex {
	x := &callIndex{t: t, calls: make([]correlated, 0, t.Calls.Len()), rivals: make(map[trace.ID]*rivals)}
	for ref, c := range t.Calls.Refs() {
		if c.Correlation != 0 {
			x.calls = append(x.calls, correlated(c.Correlation)<<32|correlated(ref))
		}
	}
	runsort.Sort(x.calls, cmp.Compare[correlated])
	for i := 1; i < len(x.calls); i++ {
		if id := x.calls[i].id(); id == x.calls[i-1].id() {
			r := x.rivals[id]
			if r == nil {
				r = &rivals{all: []rival{x.rival(i - 1)}}
				x.rivals[id] = r
			}
			r.all = append(r.all, x.rival(i))
		}
	}
	for _, r := range x.rivals {
		x.finalize(r)
	}
	x.findOwners()
	return x
}

// forget releases the memory that is needed only for linking.
func (x *callIndex) forget() { x.calls, x.rivals, x.owner = nil, nil, nil }

func (x *callIndex) rival(i int) rival {
	ref := x.calls[i].ref()
	return rival{x.t.Calls.At(ref), ref}
}

// find returns the index of the first call of a correlation, and whether there is one. It starts
// at the result of the last search and doubles its steps.
func (x *callIndex) find(id trace.ID) (place int, ok bool) {
	key, n := correlated(id)<<32, len(x.calls)
	from, to := x.at, x.at // invariant: calls[:from] < key <= calls[to:]
	for step := 1; to < n && x.calls[to] < key; step *= 2 {
		from, to = to+1, to+step
	}
	for step := 1; from > 0 && x.calls[from-1] >= key; step *= 2 {
		from, to = max(0, from-step), from-1
	}
	to = min(to, n)
	place, _ = slices.BinarySearch(x.calls[from:to], key)
	place += from
	x.at = place
	return place, place < n && x.calls[place].id() == id
}

// finalize sorts rivals, so that the order of the file does not matter, and drops nested calls.
func (x *callIndex) finalize(r *rivals) {
	pid := func(c rival) string { return x.t.Tracks[c.Track].PID }
	slices.SortFunc(r.all, func(a, b rival) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(pid(a), pid(b)), cmp.Compare(x.t.Tracks[a.Track].TID,
				x.t.Tracks[b.Track].TID), cmp.Compare(x.t.Name(a.Name), x.t.Name(b.Name)))
	})
	over := make(map[trace.TrackID]int64) // end of the last call kept, by thread
	r.all = slices.DeleteFunc(r.all, func(c rival) bool {
		if end, ok := over[c.Track]; ok && c.Start < end {
			return true
		}
		over[c.Track] = c.Start + c.Dur
		return false
	})
	r.byPID, r.byLabel = make(map[string][]rival), make(map[string][]rival)
	for _, c := range r.all {
		r.byPID[pid(c)] = append(r.byPID[pid(c)], c)
		if label := processLabel(pid(c)); label != "" {
			r.byLabel[label] = append(r.byLabel[label], c)
		}
	}
}

// launched returns the call that launched a, and whether it is known. several reports whether
// there were other candidates.
func (x *callIndex) launched(a *trace.Activity) (call trace.Ref, ok, several bool) {
	place, ok := x.find(a.Correlation)
	if !ok {
		return 0, false, false
	}
	r := x.rivals[a.Correlation]
	if r == nil {
		return x.calls[place].ref(), true, false
	}
	r.work++
	track := &x.t.Tracks[a.Track]
	list := r.byLabel[processLabel(track.PID)]
	if list == nil {
		list = r.byPID[track.PID] // a merger gave the calls and the work of a rank one process
	}
	if list == nil {
		list = r.byPID[x.owner[track.Device]]
	}
	if list == nil {
		list = r.all
	}
	// The last call that started before the work did, or else the first call.
	i, _ := slices.BinarySearchFunc(list, a.Start, func(c rival, t int64) int {
		if c.Start <= t {
			return -1
		}
		return 1
	})
	return list[max(0, i-1)].ref, true, len(r.all) > 1
}

// processLabel returns the label that tools that merge traces put before the number of a process:
// "TP00" for "[TP00] 4217".
func processLabel(pid string) string {
	if label, _, ok := strings.Cut(pid, "]"); ok && strings.HasPrefix(label, "[") {
		return label[1:]
	}
	return ""
}

// findOwners finds, for each device, the process that launched most of its work with unambiguous
// correlations.
func (x *callIndex) findOwners() {
	if len(x.rivals) == 0 {
		return
	}
	type vote struct {
		device int64
		pid    string
	}
	votes := make(map[vote]int)
	for a := range x.t.Activities.All() {
		if place, ok := x.find(a.Correlation); ok && x.rivals[a.Correlation] == nil {
			votes[vote{x.t.Tracks[a.Track].Device, x.t.Tracks[x.rival(place).Track].PID}]++
		}
	}
	x.owner = make(map[int64]string)
	best := make(map[int64]int)
	for v, n := range votes {
		if n > best[v.device] || n == best[v.device] && v.pid < x.owner[v.device] {
			x.owner[v.device], best[v.device] = v.pid, n
		}
	}
}
