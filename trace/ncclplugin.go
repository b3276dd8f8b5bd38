package trace

import (
	"strconv"
	"strings"

	"assay/internal/eventscan"
)

// The example profiler plugin of NCCL writes begins and ends of one id: a collective (category COLL)
// with its rank, and below it one span of each channel that its kernel ran on (category GPU).
const (
	pluginCollective = "COLL"
	pluginChannel    = "KernelCh"
	pluginRank       = "nccl_rank" // kind of the label that has the rank of a process
)

// addPluginRank keeps the rank that a collective of the plugin states.
func (b *Builder) addPluginRank(e *Event) {
	if e.Phase() != 'b' || string(e.Category()) != pluginCollective || !e.Has(eventscan.PluginRank) {
		return
	}
	l := label{pluginRank, string(e.PID()), "", strconv.FormatInt(e.Int(eventscan.PluginRank, -1), 10)}
	if n := len(b.labels); n == 0 || b.labels[n-1] != l {
		b.labels = append(b.labels, l)
	}
}

// pluginKernels makes a kernel of each collective of NCCL's plugin, from the begin of its first channel
// to the end of its last. Channels follow the begin of their collective in the file.
func (m *merger) pluginKernels() {
	channel, known := m.names.find(pluginChannel)
	if !known {
		return
	}
	type id struct {
		track TrackID
		id    ID
	}
	type kernel struct {
		name    Sym
		track   TrackID
		from    int64
		to      int64
		started bool
	}
	var kernels []kernel
	current := make(map[TrackID]int) // kernel of the latest collective, plus 1
	open := make(map[id]int)
	for k := range m.marks.All() {
		switch {
		case k.Phase == 'b' && m.names.texts[k.Category] == pluginCollective:
			kernels = append(kernels, kernel{name: k.Name, track: k.Track})
			current[k.Track] = len(kernels)
		case k.Name == channel && k.Phase == 'b' && current[k.Track] > 0:
			of := &kernels[current[k.Track]-1]
			if !of.started || k.Start < of.from {
				of.from = k.Start
			}
			of.started = true
			open[id{k.Track, k.ID}] = current[k.Track]
		case k.Name == channel && k.Phase == 'e' && open[id{k.Track, k.ID}] > 0:
			of := &kernels[open[id{k.Track, k.ID}]-1]
			of.to = max(of.to, k.Start)
		}
	}
	tracks := make(map[TrackID]TrackID)
	var work column[Activity]
	for _, k := range kernels {
		if k.to < k.from || !k.started {
			continue
		}
		on, ok := tracks[k.track]
		if !ok {
			on = TrackID(len(m.t.Tracks))
			host := m.t.Tracks[k.track]
			m.t.Tracks = append(m.t.Tracks, Track{PID: host.PID, TID: host.TID, OnDevice: true})
			tracks[k.track] = on
		}
		detail := m.t.Detail(m.t.noDetail())
		detail.Collective.Name = m.intern(strings.ToLower(m.names.texts[k.name]))
		*work.next() = Activity{Start: k.from, Dur: k.to - k.from, Name: k.name, Track: on, Kind: Kernel, Detail: DetailID(len(m.t.details) - 1)}
	}
	if work.size > 0 {
		m.tool = ToolNCCL
	}
	m.t.Activities.add(work.cut())
}

// statedRank takes the rank that events state, if the trace has no other.
func (m *Meta) statedRank(text string) {
	if rank, err := strconv.Atoi(text); err == nil && rank >= 0 && rank <= maxRank && m.Rank == nil {
		m.Rank = &rank
	}
}
