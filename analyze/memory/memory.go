// Package memory measures GPU memory from records of PyTorch's allocator: memory snapshots, whose
// history of allocations is replayed, and timelines of memory by category.
//
// Start with memory.go (Measure) and replay.go, which replays the history of a device to find its
// peak. owners.go sums memory by allocation site, steps.go by step; strip.go makes the picture over
// time; frees.go finds invalid frees. stacks.go and timeline.go serve other outputs and inputs.
package memory

import (
	"fmt"

	"assay/internal/diag"
	"assay/internal/redact"
	"assay/summary"
	"assay/torchprof/memory"
)

// Measure measures a memory snapshot: the use of its segments, the allocation sites of the memory at
// the peak of the recorded history, and what the allocator did. Sizes are in bytes. Strips have the
// given number of bins.
//
// Each byte of a segment is allocated, waiting, split or cached; these sum to the reserved memory.
// The replay starts from the memory that must have been live before the history: blocks that are
// live at the end, or are freed, without an allocation in the history. So the totals are the same as
// those computed from the snapshot backwards, even if the ring buffer of the history has lost
// entries.
func Measure(m *memory.Snapshot, in summary.Input, bins int, issues *diag.Ledger) *summary.Summary {
	in.Events, in.Complete = m.Records, m.Complete
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{in}, Devices: []summary.Device{},
		Kernels: []summary.Kernel{}}
	owners := newOwners(&m.Stacks)
	for i := range m.Devices {
		d := &m.Devices[i]
		row := summary.Snapshot{Rank: in.Rank, Device: d.Number, Expandable: m.Settings.Expandable,
			Configuration: m.Settings.Configuration}
		usage(&row, d)
		r := replay{m: m, owners: owners, issues: issues, complete: m.Complete, bins: bins}
		r.d, r.later = upToSnapshot(d)
		s.MemoryUses = append(s.MemoryUses, r.measure(&row)...)
		s.Snapshots = append(s.Snapshots, row)
	}
	if len(m.Devices) == 0 {
		issues.Add(diag.Issue{Code: "memory-empty", Severity: diag.Info})
	}
	return s
}

// usage sums the segments by class.
func usage(row *summary.Snapshot, d *memory.Device) {
	classes := map[string]*summary.SegmentClass{}
	requested, known := int64(0), true
	for _, seg := range d.Segments {
		name := classOf(seg)
		c := classes[name]
		if c == nil {
			c = &summary.SegmentClass{Name: name}
			classes[name] = c
		}
		blocks := d.Blocks[seg.First : seg.First+seg.Count]
		u := segmentUsage(seg, blocks)
		c.Usage = plusUsage(c.Usage, u)
		row.Usage = plusUsage(row.Usage, u)
		if seg.Private {
			row.Private = summary.Plus(row.Private, u.Reserved)
			row.PrivateFree = summary.Plus(row.PrivateFree, u.Free())
		}
		for _, b := range blocks {
			if b.State != memory.Inactive {
				row.Blocks++
			}
			if b.State == memory.Allocated {
				known = known && b.Requested >= 0
				requested = summary.Plus(requested, max(0, b.Requested))
			}
		}
	}
	if known {
		row.Requested = &requested
	}
	for _, name := range []string{summary.ClassSmall, summary.ClassLarge, summary.ClassOwn, summary.ClassExpandable} {
		if c := classes[name]; c != nil {
			row.Classes = append(row.Classes, *c)
		}
	}
}

// largeSegment is the size of the segments for blocks under 10 MiB.
const largeSegment = 20 << 20

func classOf(s memory.Segment) string {
	switch {
	case s.Expandable:
		return summary.ClassExpandable
	case s.Small:
		return summary.ClassSmall
	case s.Size == largeSegment:
		return summary.ClassLarge
	}
	return summary.ClassOwn
}

// segmentUsage sums the blocks of a segment. Parts without a block, in a truncated or damaged file,
// count as free.
func segmentUsage(seg memory.Segment, blocks []memory.Block) summary.Usage {
	u := summary.Usage{Segments: 1}
	free := int64(0)
	for _, b := range blocks {
		switch b.State {
		case memory.Allocated:
			u.Allocated = summary.Plus(u.Allocated, b.Size)
			if b.Requested >= 0 && b.Requested <= b.Size {
				u.Rounding = summary.Plus(u.Rounding, b.Size-b.Requested)
			}
		case memory.Waiting:
			u.Waiting = summary.Plus(u.Waiting, b.Size)
		default:
			free = summary.Plus(free, b.Size)
			u.LargestFree = max(u.LargestFree, b.Size)
		}
	}
	used := summary.Plus(u.Allocated, u.Waiting)
	if rest := seg.Size - used - free; rest > 0 {
		free += rest
	}
	u.Reserved = summary.Plus(used, free)
	if used > 0 && !seg.Expandable {
		u.Split = free
	} else {
		u.Cached = free
	}
	return u
}

func plusUsage(a, b summary.Usage) summary.Usage {
	return summary.Usage{
		Segments: a.Segments + b.Segments, Reserved: summary.Plus(a.Reserved, b.Reserved),
		Allocated: summary.Plus(a.Allocated, b.Allocated),
		Waiting:   summary.Plus(a.Waiting, b.Waiting), Split: summary.Plus(a.Split, b.Split),
		Cached:      summary.Plus(a.Cached, b.Cached),
		LargestFree: max(a.LargestFree, b.LargestFree), Rounding: summary.Plus(a.Rounding, b.Rounding),
	}
}

// frameText prints a frame as "file:line function".
func frameText(f memory.Frame) string {
	const most = 300 // names of C++ functions can be very long
	text := f.Function
	if f.File != "" && f.File != "??" {
		text = fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Function)
	}
	if len(text) > most {
		text = redact.Cut(text, most) + "..."
	}
	return text
}
