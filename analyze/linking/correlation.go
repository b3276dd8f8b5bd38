package linking

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay/trace"
)

// fewCorrelations is the range of correlations up to which a dense table is used
// even if few of them occur.
const fewCorrelations = 1 << 20

// A callIndex finds calls by their correlation.
type callIndex struct {
	t      *trace.Trace
	first  trace.ID   // the smallest correlation
	width  int64      // of dense
	dense  []callSlot // by correlation less first, where they are about as many as their range
	few    map[trace.ID]*callSlot
	rivals map[trace.ID]*rivals // of correlations that several calls have
	owner  map[int64]string     // by device: the pid that launched most of what is clear
}

// A callSlot is the first call of a correlation.
type callSlot struct {
	call trace.Ref
	used bool
}

// rivals are the calls of one correlation, without calls nested in another of them:
// the runtime's call counts, and not the driver's call in it. They are sorted by
// start, once for all processes and once by process.
type rivals struct {
	all            []*trace.Call
	byPID, byLabel map[string][]*trace.Call
}

func callsByCorrelation(t *trace.Trace) *callIndex {
	x := &callIndex{t: t, first: math.MaxUint32, few: make(map[trace.ID]*callSlot), rivals: make(map[trace.ID]*rivals)}
	top := trace.ID(0)
	for c := range t.Calls.All() {
		if c.Correlation != 0 {
			top = max(top, c.Correlation)
			x.first = min(x.first, c.Correlation)
		}
	}
	if top >= x.first && int64(top-x.first) < max(4*int64(t.Calls.Len()), fewCorrelations) {
		x.width = int64(top-x.first) + 1
		x.dense = make([]callSlot, x.width)
	}
	for ref, c := range t.Calls.Refs() {
		switch slot := x.slot(c.Correlation); {
		case c.Correlation == 0:
		case slot != nil && slot.used:
			r := x.rivals[c.Correlation]
			if r == nil {
				r = &rivals{all: []*trace.Call{t.Calls.At(slot.call)}}
				x.rivals[c.Correlation] = r
			}
			r.all = append(r.all, c)
		case slot != nil:
			slot.call, slot.used = ref, true
		default:
			x.few[c.Correlation] = &callSlot{call: ref, used: true}
		}
	}
	for _, r := range x.rivals {
		x.finalize(r)
	}
	x.findOwners()
	return x
}

// place returns the index of a correlation in dense, or -1.
func (x *callIndex) place(id trace.ID) int64 {
	if i := int64(id) - int64(x.first); i >= 0 && i < x.width {
		return i
	}
	return -1
}

// forget releases the memory that only linking needs.
func (x *callIndex) forget() { x.dense, x.few, x.rivals, x.owner = nil, nil, nil, nil }

// slot returns the slot of a correlation, or nil.
func (x *callIndex) slot(id trace.ID) *callSlot {
	if i := x.place(id); i >= 0 {
		return &x.dense[i]
	}
	return x.few[id]
}

// finalize sorts rivals, whatever their order in the file, and drops those inside
// others.
func (x *callIndex) finalize(r *rivals) {
	pid := func(c *trace.Call) string { return x.t.Tracks[c.Track].PID }
	slices.SortFunc(r.all, func(a, b *trace.Call) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(pid(a), pid(b)), cmp.Compare(x.t.Tracks[a.Track].TID, x.t.Tracks[b.Track].TID), cmp.Compare(x.t.Name(a.Name), x.t.Name(b.Name)))
	})
	over := make(map[trace.TrackID]int64) // until when the last kept call of a thread lasts
	r.all = slices.DeleteFunc(r.all, func(c *trace.Call) bool {
		if end, ok := over[c.Track]; ok && c.Start < end {
			return true
		}
		over[c.Track] = c.Start + c.Dur
		return false
	})
	r.byPID, r.byLabel = make(map[string][]*trace.Call), make(map[string][]*trace.Call)
	for _, c := range r.all {
		r.byPID[pid(c)] = append(r.byPID[pid(c)], c)
		if label := processLabel(pid(c)); label != "" {
			r.byLabel[label] = append(r.byLabel[label], c)
		}
	}
}

// launched returns the call that launched a, or nil, and whether calls of
// several processes might have.
func (x *callIndex) launched(a *trace.Activity) (call *trace.Call, several bool) {
	slot := x.slot(a.Correlation)
	if a.Correlation == 0 || slot == nil || !slot.used {
		return nil, false
	}
	r := x.rivals[a.Correlation]
	if r == nil {
		return x.t.Calls.At(slot.call), false
	}
	track := &x.t.Tracks[a.Track]
	list := r.byLabel[processLabel(track.PID)]
	if list == nil {
		list = r.byPID[x.owner[track.Device]]
	}
	if list == nil {
		list = r.all
	}
	// The last that began before the work did, or the first.
	i, _ := slices.BinarySearchFunc(list, a.Start, func(c *trace.Call, t int64) int {
		if c.Start <= t {
			return -1
		}
		return 1
	})
	return list[max(0, i-1)], len(r.all) > 1
}

// processLabel returns the label that programs which merge traces write before the
// number of a process: "TP00" for "[TP00] 4217".
func processLabel(pid string) string {
	if label, _, ok := strings.Cut(pid, "]"); ok && strings.HasPrefix(label, "[") {
		return label[1:]
	}
	return ""
}

// findOwners finds the process that launched most of the work of each device
// whose correlation only one call has.
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
		if slot := x.slot(a.Correlation); a.Correlation != 0 && slot != nil && slot.used && x.rivals[a.Correlation] == nil {
			votes[vote{x.t.Tracks[a.Track].Device, x.t.Tracks[x.t.Calls.At(slot.call).Track].PID}]++
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
