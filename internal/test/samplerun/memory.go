package samplerun

import (
	"assay/summary"
)

// Units of size in bytes.
const (
	MiB = int64(1) << 20
	GiB = int64(1) << 30
)

// Memory has two devices. The first ran out of memory: of 8 GiB reserved
// (5 allocated, 1 waiting, 1.5 split, 0.5 cached) 6 GiB were live at the peak,
// 4 of them activations and 2 parameters. The second has 2 GiB of no owner.
func Memory() *summary.Summary {
	at := func(n int64) *int64 { return &n }
	first := summary.Snapshot{
		Usage:  summary.Usage{Segments: 30, Reserved: 8 * GiB, Allocated: 5 * GiB, Waiting: GiB, Split: 3 * GiB / 2, Cached: GiB / 2, LargestFree: 300 * MiB, Rounding: 10 * MiB},
		Blocks: 500, Requested: at(5*GiB - 10*MiB), Private: GiB, PrivateFree: GiB / 4,
		Classes: []summary.SegmentClass{
			{Name: summary.ClassSmall, Usage: summary.Usage{Segments: 10, Reserved: GiB, Allocated: GiB}},
			{Name: summary.ClassOwn, Usage: summary.Usage{Segments: 20, Reserved: 7 * GiB, Allocated: 4 * GiB, Waiting: GiB, Split: 3 * GiB / 2, Cached: GiB / 2, LargestFree: 300 * MiB, Rounding: 10 * MiB}},
		},
		History: &summary.MemoryHistory{
			Entries: 4000, StartNS: at(5 * Sec), EndNS: at(7 * Sec), Allocs: 2000, AllocBytes: 90 * GiB, Frees: 1500, SegmentAllocs: 30, SegmentAllocBytes: 8 * GiB,
			OlderBlocks: 7, OlderBytes: GiB, Steps: []summary.MemoryStep{{Name: "ProfilerStep#1", StartNS: 5 * Sec, NS: Sec, Allocs: 900, SegmentAllocs: 30, Start: GiB, Peak: 6 * GiB}},
		},
		Peak:     &summary.MemoryPeak{Entry: 3000, NS: at(6 * Sec), Live: 6 * GiB, Waiting: GiB, Reserved: 7 * GiB, Sizes: "requested", HighestReserved: 8 * GiB, HighestReservedNS: at(7 * Sec)},
		OwnersAt: "peak", OwnersBytes: 6 * GiB,
		Owners: []summary.Owner{
			{Kind: summary.KindActivations, Frame: "/app/model.py:7 forward", Bytes: 4 * GiB, Count: 32, Stack: []string{"x"}},
			{Kind: summary.KindParameters, Frame: "/app/model.py:3 __init__", Bytes: 2 * GiB, Count: 64, Stack: []string{"x"}},
		},
		Kinds:   []summary.Held{{Name: summary.KindActivations, Bytes: 4 * GiB, Count: 32}, {Name: summary.KindParameters, Bytes: 2 * GiB, Count: 64}},
		Labels:  []summary.Held{{Name: "step 1", Bytes: 4 * GiB, Count: 32}, {Bytes: 2 * GiB, Count: 64}},
		Largest: []summary.Owner{{Kind: summary.KindActivations, Frame: "/app/model.py:7 forward", Bytes: GiB, Count: 1, NS: at(6 * Sec)}},
		Failed:  1, Capacity: at(9 * GiB),
		OutOfMemory:   []summary.OutOfMemory{{NS: at(13 * Sec / 2), Wanted: 2 * GiB, Free: at(GiB), Reserved: at(8 * GiB), Live: at(6 * GiB), Kind: summary.KindActivations, Frame: "/app/model.py:9 logits"}},
		Configuration: "max_split_size_mb:512",
		Moment:        &summary.MemoryMoment{At: "failure", NS: at(13 * Sec / 2), Live: 6 * GiB, Reserved: 8 * GiB, Step: "ProfilerStep#1", Call: 3, Calls: 4},
		Strip: &summary.OwnerStrip{StartNS: 5 * Sec, BinNS: Sec / 2, Live: []int64{2 * GiB, 4 * GiB, 6 * GiB, 5 * GiB}, Reserved: []int64{6 * GiB, 6 * GiB, 7 * GiB, 8 * GiB}, Owners: []summary.Stratum{
			{Name: "/app/model.py:7 forward", Kind: summary.KindActivations, Bytes: []int64{0, 2 * GiB, 4 * GiB, 3 * GiB}},
			{Name: "/app/model.py:3 __init__", Kind: summary.KindParameters, Bytes: []int64{2 * GiB, 2 * GiB, 2 * GiB, 2 * GiB}},
		}},
	}
	second := summary.Snapshot{
		Device: 1, Usage: summary.Usage{Segments: 1, Reserved: 20 * GiB, Allocated: 2 * GiB, Cached: 18 * GiB}, Blocks: 1,
		Classes:  []summary.SegmentClass{{Name: summary.ClassExpandable, Usage: summary.Usage{Segments: 1, Reserved: 20 * GiB, Allocated: 2 * GiB, Cached: 18 * GiB}}},
		OwnersAt: "end", OwnersBytes: 2 * GiB, Owners: []summary.Owner{{Kind: summary.KindUnknown, Bytes: 2 * GiB, Count: 1}},
		Kinds: []summary.Held{{Name: summary.KindUnknown, Bytes: 2 * GiB, Count: 1}},
	}
	second.Moment = &summary.MemoryMoment{At: "end", Live: 2 * GiB, Reserved: 20 * GiB}
	use := func(device int64, owner, by string, bytes int64) summary.MemoryUse {
		return summary.MemoryUse{Owner: owner, By: by, Device: device, Count: 1, Bytes: bytes}
	}
	return &summary.Summary{
		Schema: summary.Schema, Inputs: []summary.Input{{Path: "snapshot.pickle", Format: "torch-memory-snapshot", Compression: "none", Bytes: 5 << 20, Events: 4500, Complete: true}},
		Snapshots: []summary.Snapshot{first, second},
		MemoryUses: []summary.MemoryUse{
			use(0, summary.UseActivations, "frames", 4*GiB), use(0, summary.UseFragments, "allocator", 2*GiB), use(0, summary.UseWeights, "frames", 2*GiB),
			use(1, summary.UseCached, "allocator", 18*GiB), use(1, summary.UseUnknown, "", 2*GiB),
		},
	}
}

// MemoryTimeline has a peak of 4 GiB, 3 of them activations.
func MemoryTimeline() *summary.Summary {
	return &summary.Summary{
		Schema: summary.Schema, Inputs: []summary.Input{{Path: "m.raw.json.gz", Format: "torch-memory-timeline", Complete: true}},
		MemoryTimelines: []summary.MemoryTimeline{{
			Moments: 3, StartNS: Sec, NS: Sec, PeakNS: 3 * Sec / 2, Peak: 4 * GiB, Older: GiB,
			Categories: []summary.CategoryBytes{{Name: "activations", AtPeak: 3 * GiB, Highest: 3 * GiB}, {Name: "parameters", AtPeak: GiB, Highest: GiB}},
			Strip:      &summary.OwnerStrip{StartNS: Sec, BinNS: Sec, Live: []int64{4 * GiB}, Owners: []summary.Stratum{{Name: "activations", Bytes: []int64{3 * GiB}}, {Name: "parameters", Bytes: []int64{GiB}}}},
		}},
	}
}

// HostileMemory has what no reader makes, but a file may hold.
func HostileMemory() *summary.Summary {
	s := Memory()
	hostile := "\x1b[2J|<b>`\n\u202e"
	for i := range s.Snapshots {
		m := &s.Snapshots[i]
		m.Configuration = hostile
		for j := range m.Owners {
			m.Owners[j].Frame, m.Owners[j].Kind = hostile, hostile
		}
		for j := range m.Kinds {
			m.Kinds[j].Name = hostile
		}
		for j := range m.Classes {
			m.Classes[j].Name = hostile
		}
		m.Reserved, m.OwnersBytes = -1, 0
		if m.Strip != nil {
			m.Strip.BinNS, m.Strip.Owners[0].Name, m.Strip.Live[0] = 1<<62, hostile, -5
		}
	}
	return s
}
