package memory_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"assay/analyze"
	memoryrows "assay/analyze/memory"
	"assay/internal/test"
	"assay/internal/test/snapgen"
	"assay/summary"
	"assay/torchprof/memory"
)

// play runs a program on the allocator of snapgen, and reads what it left.
func play(t *testing.T, opt snapgen.Options) (*snapgen.Run, *memory.Snapshot) {
	t.Helper()
	run := snapgen.Play(opt)
	var b bytes.Buffer
	if err := run.Pickle(&b); err != nil {
		t.Fatal(err)
	}
	m, err := memory.ReadSnapshot(&b, "x", memory.SnapshotLimits{})
	if err != nil || !m.Complete {
		t.Fatalf("%+v: %v", opt, err)
	}
	return run, m
}

func measure(m *memory.Snapshot) *summary.Summary {
	return analyze.Snapshot(m, summary.Input{}, analyze.Options{StripBins: 50})
}

// TestSnapshotTruth: whatever ran, and whatever the ring buffer has lost of it,
// the summary says what the program that made the snapshot knows.
func TestSnapshotTruth(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	flip := func() bool { return rnd.IntN(2) == 0 }
	for i := range 150 {
		opt := snapgen.Options{
			Seed: uint64(i), Steps: rnd.IntN(4), Layers: 1 + rnd.IntN(8), Depth: rnd.IntN(5),
			RecordLate: flip(), EmptyCache: flip(), Scatter: flip(), Exhaust: flip(), Streams: flip(),
		}
		if flip() {
			opt.MaxEntries = 1 + rnd.IntN(300)
		}
		run, m := play(t, opt)
		s := measure(m)
		if got, want := truthIn(s.Snapshots[0]), run.Truth(); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Fatalf("%+v:\ngot  %+v\nwant %+v", opt, got, want)
		}
		checkSnapshot(t, s)
		lost := slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Code == "memory-history-truncated" })
		if want := s.Snapshots[0].History.LostBlocks > 0; lost != want {
			t.Errorf("%+v: lost blocks %v, issue %v", opt, want, lost)
		}
		for _, is := range s.Issues {
			if is.Severity == "suspect" {
				t.Errorf("%+v: %+v", opt, is)
			}
		}
	}
}

// truthIn says what a row has of what the truth does.
func truthIn(m summary.Snapshot) snapgen.Truth {
	h := m.History
	out := snapgen.Truth{
		Entries: h.Entries, Reserved: m.Reserved, Allocated: m.Allocated, Waiting: m.Waiting, Split: m.Split, Cached: m.Cached, LargestFree: m.LargestFree,
		Requested: *m.Requested, HighestReserved: m.Peak.HighestReserved, Allocs: h.Allocs, Frees: h.Frees, SegmentAllocs: h.SegmentAllocs,
		SegmentFrees: h.SegmentFrees, SegmentAllocBytes: h.SegmentAllocBytes, SegmentFreeByte: h.SegmentFreeBytes,
		OlderBlocks: h.OlderBlocks, OlderBytes: h.OlderBytes, Lost: h.LostBlocks, Peak: m.Peak.Live, PeakEntry: m.Peak.Entry,
		PeakOwners: map[string]int64{},
	}
	for _, o := range m.Owners {
		out.PeakOwners[o.Frame] += o.Bytes
	}
	return out
}

// checkSnapshot holds a row to the sums that its documentation promises.
func checkSnapshot(t *testing.T, s *summary.Summary) {
	t.Helper()
	for _, m := range s.Snapshots {
		var all summary.Usage
		for _, c := range m.Classes {
			all = memoryrows.PlusUsage(all, c.Usage)
		}
		if all != m.Usage {
			t.Errorf("the classes sum to %+v, the device has %+v", all, m.Usage)
		}
		if m.Allocated+m.Waiting+m.Split+m.Cached != m.Reserved {
			t.Errorf("the parts of %+v do not sum to what is reserved", m.Usage)
		}
		kinds := int64(0)
		for _, k := range m.Kinds {
			kinds += k.Bytes
		}
		if kinds != m.OwnersBytes || m.Peak != nil && m.OwnersBytes != m.Peak.Live {
			t.Errorf("kinds sum to %d, owners to %d, the peak is %+v", kinds, m.OwnersBytes, m.Peak)
		}
		if m.Strip == nil {
			continue
		}
		highest := int64(0)
		for i, live := range m.Strip.Live {
			sum := int64(0)
			for _, o := range m.Strip.Owners {
				sum += o.Bytes[i]
			}
			if sum != live {
				t.Fatalf("bin %d: owners sum to %d, live is %d", i, sum, live)
			}
			highest = max(highest, live)
		}
		if highest != m.Peak.Live || slices.Max(m.Strip.Reserved) != m.Peak.HighestReserved {
			t.Errorf("the strip rises to %d of %d, reserved to %d of %d", highest, m.Peak.Live, slices.Max(m.Strip.Reserved), m.Peak.HighestReserved)
		}
	}
	if again := summary.Merge(s); len(again.Snapshots) != len(s.Snapshots) {
		t.Error("merging loses a snapshot")
	}
}

// TestSnapshotKinds: each owner has the purpose that its stack tells.
func TestSnapshotKinds(t *testing.T) {
	_, m := play(t, snapgen.Options{Steps: 2, Layers: 5, Scatter: true})
	want := map[string]string{
		"/app/model.py:12 __init__": summary.KindParameters, "/app/model.py:30 forward": summary.KindActivations,
		"/app/train.py:31 train_step": summary.KindBackward, "/app/optimizer.py:7 build": summary.KindOptimizer,
		"/app/data.py:21 next_batch": summary.KindData, "/app/log.py:5 keep": summary.KindOther,
	}
	got := map[string]string{}
	row := measure(m).Snapshots[0]
	for _, o := range row.Owners {
		if _, ok := want[o.Frame]; ok {
			got[o.Frame] = o.Kind
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if o := row.Largest[0]; o.Bytes < row.Largest[len(row.Largest)-1].Bytes || o.NS == nil || len(o.Stack) < 2 {
		t.Errorf("the largest allocation is %+v", o)
	}
}

// TestSnapshotSteps: each step has the allocations between its marks.
func TestSnapshotSteps(t *testing.T) {
	_, m := play(t, snapgen.Options{Steps: 3, Layers: 4, EmptyCache: true})
	row := measure(m).Snapshots[0]
	steps := row.History.Steps
	if len(steps) != 3 || steps[1].Name != "ProfilerStep#1" {
		t.Fatalf("%+v", steps)
	}
	var peak, allocs, frees int64
	for _, s := range steps {
		peak, allocs, frees = max(peak, s.Peak), allocs+s.Allocs, frees+s.SegmentFrees
	}
	// All but the weights is allocated in steps.
	if peak != row.Peak.Live || allocs != row.History.Allocs-4 || frees != row.History.SegmentFrees || frees == 0 {
		t.Errorf("steps sum to %d, %d and %d of %+v", peak, allocs, frees, row.History)
	}
}

// TestSnapshotGrowth: a program that keeps 1500 KiB for each of its layers in
// every step grows by that.
func TestSnapshotGrowth(t *testing.T) {
	_, m := play(t, snapgen.Options{Steps: 8, Layers: 4, Scatter: true})
	g := measure(m).Snapshots[0].History.Growth
	const kept = 5 * 4 * 1500 << 10 // from the beginning of step 2 to that of step 7
	if g == nil || g.Bytes != kept || g.Fell || g.Steps != 5 || g.From != "ProfilerStep#2" || len(g.Owners) != 1 || g.Owners[0].Frame != "/app/log.py:5 keep" ||
		g.Owners[0].Bytes != kept || g.Owners[0].Count != 20 {
		t.Errorf("%+v", g)
	}
	_, m = play(t, snapgen.Options{Steps: 8, Layers: 4})
	if g := measure(m).Snapshots[0].History.Growth; g.Bytes != 0 || g.Fell || len(g.Owners) != 0 {
		t.Errorf("%+v", g)
	}
}

// TestSnapshotFailure: what was in use when an allocation failed, and what there
// could have been.
func TestSnapshotFailure(t *testing.T) {
	run, m := play(t, snapgen.Options{Steps: 1, Layers: 4, Exhaust: true})
	row := measure(m).Snapshots[0]
	o := row.OutOfMemory[0]
	if row.Failed != 1 || o.Wanted != 300<<20 || *o.Reserved != run.Truth().Reserved || *row.Capacity != run.Truth().Reserved+256<<20 || o.Frame != "/app/model.py:55 logits" {
		t.Errorf("%+v, capacity %d", o, *row.Capacity)
	}
}

// TestSnapshotBare: without a history there is no peak, and the owners are those
// of the end, of whom nothing is known.
func TestSnapshotBare(t *testing.T) {
	run, m := play(t, snapgen.Options{Steps: 2, Layers: 4, Bare: true})
	s := measure(m)
	row := s.Snapshots[0]
	if row.Peak != nil || row.History != nil || row.OwnersAt != "end" || row.OwnersBytes != run.Truth().Allocated ||
		row.Owners[0].Kind != summary.KindUnknown || s.Issues[0].Code != "memory-history-missing" {
		t.Errorf("%+v, %+v", row, s.Issues)
	}
}

// TestSnapshotCut: of a file that is cut the segments stand, and no peak is
// claimed.
func TestSnapshotCut(t *testing.T) {
	run := snapgen.Play(snapgen.Options{Steps: 2, Layers: 4})
	var b bytes.Buffer
	if err := run.Pickle(&b); err != nil {
		t.Fatal(err)
	}
	m, err := memory.ReadSnapshot(bytes.NewReader(b.Bytes()[:b.Len()-3000]), "x", memory.SnapshotLimits{})
	if err != nil || m.Complete {
		t.Fatal(err)
	}
	s := measure(m)
	row := s.Snapshots[0]
	if row.Peak != nil || row.History == nil || row.Reserved != run.Truth().Reserved || row.OwnersAt != "end" || row.OwnersBytes != run.Truth().Allocated {
		t.Errorf("%+v", row)
	}
	var codes []string
	for _, is := range s.Issues {
		codes = append(codes, is.Code)
	}
	if want := []string{"input-truncated", "memory-peak-unknown"}; !slices.Equal(codes, want) {
		t.Errorf("issues %v, want %v", codes, want)
	}
}

// TestSnapshotInconsistent: histories that cannot be are said to be, and end.
func TestSnapshotInconsistent(t *testing.T) {
	entry := func(a memory.Action, address, size int64) memory.Entry {
		return memory.Entry{Action: a, Address: address, Size: size, Time: 1000}
	}
	for name, tt := range map[string]struct {
		entries []memory.Entry
		n       int64
		peak    int64
	}{
		"given out twice":      {[]memory.Entry{entry(memory.Alloc, 1, 10), entry(memory.Alloc, 1, 30), entry(memory.FreeCompleted, 1, 30)}, 1, 30},
		"live in history only": {[]memory.Entry{entry(memory.Alloc, 1, 10)}, 1, 10},
		"freed before all":     {[]memory.Entry{entry(memory.FreeCompleted, 1, 10)}, 0, 10},
		"reserved below zero":  {[]memory.Entry{entry(memory.SegmentAlloc, 1, 10)}, 1, 0},
	} {
		m := &memory.Snapshot{Labels: []string{""}, Complete: true, Devices: []memory.Device{{Entries: tt.entries}}}
		s := measure(m)
		n := int64(0)
		for _, is := range s.Issues {
			if is.Code == "memory-history-inconsistent" {
				n = is.Count
			}
		}
		if n != tt.n || s.Snapshots[0].Peak.Live != tt.peak {
			t.Errorf("%s: %d inconsistencies, peak %+v", name, n, s.Snapshots[0].Peak)
		}
	}
}

// TestMemoryTimeline: peaks and bins of a timeline, worked out by hand.
func TestMemoryTimeline(t *testing.T) {
	m := &memory.Timeline{
		Times: []int64{1000, 1100, 1200, 1300}, Start: memory.Sizes{5}, Complete: true, Records: 4,
		Sizes: []memory.Sizes{{5, 0, 0, 0, 1}, {5, 0, 0, 0, 9}, {5, 0, 7, 0, 1}, {5}},
	}
	s := analyze.MemoryTimeline(m, summary.Input{}, analyze.Options{StripBins: 3})
	row := s.MemoryTimelines[0]
	want := []summary.CategoryBytes{{Name: "activations", AtPeak: 9, Highest: 9}, {Name: "parameters", AtPeak: 5, Highest: 5}, {Name: "inputs", Highest: 7}}
	if row.Peak != 14 || row.PeakNS != 1100 || row.NS != 300 || row.Older != 5 || !slices.Equal(row.Categories, want) {
		t.Errorf("%+v", row)
	}
	// The bins begin at 1000, 1101 and 1202; what is live at 1100 still is at 1101.
	if got := fmt.Sprint(row.Strip.BinNS, row.Strip.Live, row.Strip.Owners); got != "101 [14 14 13] [{activations  [9 9 1]} {parameters  [5 5 5]} {inputs  [0 0 7]}]" {
		t.Errorf("strip %s", got)
	}
}

// TestSnapshotWithoutTimes: entries without times have a peak and no picture.
func TestSnapshotWithoutTimes(t *testing.T) {
	run, m := play(t, snapgen.Options{Steps: 2, Layers: 3})
	for i := range m.Devices[0].Entries {
		m.Devices[0].Entries[i].Time = memory.None
	}
	s := measure(m)
	row := s.Snapshots[0]
	if row.Peak.Live != run.Truth().Peak || row.Peak.NS != nil || row.Strip != nil || row.History.StartNS != nil || row.History.Steps != nil ||
		row.Largest[0].NS != nil || s.Issues[0].Code != "memory-times-missing" {
		t.Errorf("%+v, %+v", row, s.Issues)
	}
}

// TestSnapshotClasses puts one segment into each class.
func TestSnapshotClasses(t *testing.T) {
	d := memory.Device{}
	add := func(s memory.Segment, blocks ...memory.Block) {
		s.First, s.Count = len(d.Blocks), len(blocks)
		d.Segments, d.Blocks = append(d.Segments, s), append(d.Blocks, blocks...)
	}
	used := memory.Block{Size: 600, Requested: 500, State: memory.Allocated}
	add(memory.Segment{Size: 1000, Small: true}, used, memory.Block{Size: 300}, memory.Block{Size: 100})
	add(memory.Segment{Size: 20 << 20, Private: true}, memory.Block{Size: 20 << 20})
	add(memory.Segment{Size: 1000}, memory.Block{Size: 400, Requested: memory.None, State: memory.Waiting}) // 600 are not told of
	add(memory.Segment{Size: 1000, Expandable: true}, used, memory.Block{Size: 400})
	row := measure(&memory.Snapshot{Labels: []string{""}, Complete: true, Devices: []memory.Device{d}}).Snapshots[0]
	want := []summary.SegmentClass{
		{Name: summary.ClassSmall, Usage: summary.Usage{Segments: 1, Reserved: 1000, Allocated: 600, Split: 400, LargestFree: 300, Rounding: 100}},
		{Name: summary.ClassLarge, Usage: summary.Usage{Segments: 1, Reserved: 20 << 20, Cached: 20 << 20, LargestFree: 20 << 20}},
		{Name: summary.ClassOwn, Usage: summary.Usage{Segments: 1, Reserved: 1000, Waiting: 400, Split: 600}},
		{Name: summary.ClassExpandable, Usage: summary.Usage{Segments: 1, Reserved: 1000, Allocated: 600, Cached: 400, LargestFree: 400, Rounding: 100}},
	}
	if !slices.Equal(row.Classes, want) || row.Private != 20<<20 || row.PrivateFree != 20<<20 || *row.Requested != 1000 || row.Blocks != 3 {
		t.Errorf("got  %+v\nwant %+v\n%+v", row.Classes, want, row)
	}
}

// FuzzSnapshot holds the measurement of any pickle to its sums, and to an end.
func FuzzSnapshot(f *testing.F) {
	for _, opt := range snapgen.Presets() {
		opt.Steps, opt.Layers = min(opt.Steps, 1), 2
		var b bytes.Buffer
		if err := snapgen.Play(opt).Pickle(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	for _, file := range test.Files(f, filepath.Join("..", "..", "internal", "pickle", "testdata", "*.pickle")) {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := memory.ReadSnapshot(bytes.NewReader(in), "x", memory.SnapshotLimits{Memory: 8 << 20})
		if m == nil {
			if err == nil {
				t.Fatal("neither a snapshot nor a reason")
			}
			return
		}
		s := measure(m)
		checkSnapshot(t, s)
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := summary.Read(bytes.NewReader(text), "x"); err != nil {
			t.Error(err)
		}
	})
}

// TestMemoryStacks: the profile of a snapshot adds up to the live memory that
// the program knows to be its peak, and without a history to what is in use at
// the end; outermost functions come first.
func TestMemoryStacks(t *testing.T) {
	for seed := range uint64(20) {
		for _, bare := range []bool{false, true} {
			run, m := play(t, snapgen.Options{Seed: seed, Steps: 3, Layers: 4, Depth: 3, Bare: bare, RecordLate: seed%2 == 0})
			p := memoryrows.Stacks(m)
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			var live int64
			for _, s := range p.Samples {
				live += s.Values[0]
				if !bare && s.Stack[0].Name != "<module>" && s.Stack[0].Name != "(no stack recorded)" {
					t.Errorf("outermost is %q", s.Stack[0].Name)
				}
			}
			want := run.Truth().Peak
			if bare {
				want = run.Truth().Allocated + run.Truth().Waiting
			}
			if live != want {
				t.Errorf("seed %d, bare %v: %d bytes, want %d", seed, bare, live, want)
			}
		}
	}
}
