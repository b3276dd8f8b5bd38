package attribute

import (
	"cmp"
	"strings"

	"assay/analyze/hosttree"
	"assay/analyze/launches"
	"assay/trace"
)

// A Host holds what follows from the events of the host alone: links, threads, memory and
// autograd's arrows. It needs no timeline, so it can be computed while the timeline is built.
type Host struct {
	Links     *launches.Links
	memories  *allocations
	arrows    passArrows
	handOvers map[trace.TrackID][]handOver
	threads   []*hosttree.Thread
	mains     map[string]trace.TrackID // the main thread of each process
	processes []uint32                 // by track: a number for its process
	explained map[int][]int64          // starts of gaps by index of the device: see Explain
}

// HostOf returns the Host of a trace.
func HostOf(t *trace.Trace) *Host {
	threads := make(chan []*hosttree.Thread, 1)
	go func() {
		if t.Activities.Len() == 0 && t.Ops.Len() == 0 {
			threads <- nil
			return
		}
		threads <- hosttree.Threads(t)
	}()
	h := &Host{Links: launches.Of(t), memories: allocationsOf(t), arrows: passArrowsOf(t), handOvers: handOversOf(t)}
	h.threads = <-threads
	h.mains, h.processes = mainThreads(t, h.threads), processesOf(t)
	return h
}

// processCount returns the number of processes.
func (h *Host) processCount() int {
	n := uint32(0)
	for _, p := range h.processes {
		n = max(n, p+1)
	}
	return int(n)
}

// processesOf returns a number from 0 for the process of each track.
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

// sequences maps the sequence numbers of each process to the contexts of their operators.
// Sequence numbers are dense, so pages take less memory than a map.
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

// find sets last to the page of a number, or to nil if there is no page.
func (s *sequences) find(process uint32, id trace.ID) {
	if key := (sequenceKey{process, id >> pageBits}); s.last == nil || s.key != key {
		s.key, s.last = key, s.pages[key]
	}
}

// mainThreads returns the main thread of each process: the thread with the most annotations.
// Ties go to the thread with the most calls, then to the one with the most events.
func mainThreads(t *trace.Trace, threads []*hosttree.Thread) map[string]trace.TrackID {
	best := make(map[string]*hosttree.Thread)
	for _, th := range threads {
		pid := t.Tracks[th.Track].PID
		if b := best[pid]; b == nil || cmp.Or(cmp.Compare(th.Annotations(), b.Annotations()),
			cmp.Compare(th.Calls(), b.Calls()),
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

// join adds the operators of another table. They replace operators of the same number. ids
// translates their contexts.
func (s *sequences) join(other *sequences, ids []contextID) {
	for key, page := range other.pages {
		for at, c := range page {
			if c != 0 {
				s.set(key.process, key.page<<pageBits|trace.ID(at), ids[c])
			}
		}
	}
}
