package attribute

import (
	"cmp"
	"strings"

	"assay/analyze/hosttree"
	"assay/analyze/launches"
	"assay/trace"
)

// A Host has what the events of the host show by themselves, before they are
// related to the work of devices.
type Host struct {
	Links     *launches.Links
	memories  *allocations
	arrows    passArrows
	threads   []*hosttree.Thread
	mains     map[string]trace.TrackID // the main thread of each process
	processes []uint32                 // by track: a number for its process
	explained map[int][]int64          // by index of the device: see Explain
}

// HostOf finds what the events of the host show.
func HostOf(t *trace.Trace) *Host {
	threads := make(chan []*hosttree.Thread, 1)
	go func() {
		if t.Activities.Len() == 0 && t.Ops.Len() == 0 {
			threads <- nil
			return
		}
		threads <- hosttree.Threads(t)
	}()
	h := &Host{Links: launches.Of(t), memories: allocationsOf(t), arrows: passArrowsOf(t)}
	h.threads = <-threads
	h.mains, h.processes = mainThreads(t, h.threads), processesOf(t)
	return h
}

// processCount returns how many processes have a number.
func (h *Host) processCount() int {
	n := uint32(0)
	for _, p := range h.processes {
		n = max(n, p+1)
	}
	return int(n)
}

// processesOf numbers the processes, by track.
func processesOf(t *trace.Trace) []uint32 {
	numbers := make(map[string]uint32)
	out := make([]uint32, len(t.Tracks))
	for i := range t.Tracks {
		n, ok := numbers[t.Tracks[i].PID]
		if !ok {
			n = uint32(len(numbers))
			numbers[t.Tracks[i].PID] = n
		}
		out[i] = n
	}
	return out
}

// sequences has the context of the operator of each sequence number of each
// process. Numbers are dense, so they are kept in pages.
type sequences struct {
	pages map[sequenceKey]*sequencePage
	key   sequenceKey // of last
	last  *sequencePage
}

type sequenceKey struct {
	process uint32
	page    trace.ID
}

type sequencePage [1 << pageBits]contextID

const pageBits = 8

func (s *sequences) set(process uint32, id trace.ID, c contextID) {
	if s.find(process, id); s.last == nil {
		s.last = new(sequencePage)
		s.pages[s.key] = s.last
	}
	s.last[id%(1<<pageBits)] = c
}

func (s *sequences) get(process uint32, id trace.ID) contextID {
	if s.find(process, id); s.last == nil {
		return 0
	}
	return s.last[id%(1<<pageBits)]
}

// find makes the page of a number the last one; nil if there is none.
func (s *sequences) find(process uint32, id trace.ID) {
	if key := (sequenceKey{process, id >> pageBits}); s.last == nil || s.key != key {
		s.key, s.last = key, s.pages[key]
	}
}

// mainThreads returns the main thread of each process: the one with the most
// annotations, and of equal ones the one that makes the most calls.
func mainThreads(t *trace.Trace, threads []*hosttree.Thread) map[string]trace.TrackID {
	best := make(map[string]*hosttree.Thread)
	for _, th := range threads {
		pid := t.Tracks[th.Track].PID
		if b := best[pid]; b == nil || cmp.Or(cmp.Compare(th.Annotations(), b.Annotations()), cmp.Compare(th.Calls(), b.Calls()),
			cmp.Compare(th.Len(), b.Len()), strings.Compare(t.Tracks[b.Track].TID, t.Tracks[th.Track].TID)) > 0 {
			best[pid] = th
		}
	}
	out := make(map[string]trace.TrackID)
	for pid, th := range best {
		out[pid] = th.Track
	}
	return out
}

// join adds the operators of another table, which replace those of the same number.
func (s *sequences) join(other *sequences, ids []contextID) {
	for key, page := range other.pages {
		for at, c := range page {
			if c != 0 {
				s.set(key.process, key.page<<pageBits|trace.ID(at), ids[c])
			}
		}
	}
}
