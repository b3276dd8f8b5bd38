package report

import (
	"bytes"
	"fmt"
	"image/png"
	"slices"
	"strings"
	"testing"

	"assay/judge"
	"assay/summary"
)

const (
	miB = int64(1) << 20
	giB = int64(1) << 30
)

// memoryRun has two devices. The first ran out of memory: of 8 GiB reserved
// (5 allocated, 1 waiting, 1.5 split, 0.5 cached) 6 GiB were live at the peak,
// 4 of them activations and 2 parameters. The second has 2 GiB of no owner.
func memoryRun() *summary.Summary {
	at := func(n int64) *int64 { return &n }
	first := summary.Snapshot{
		Usage:  summary.Usage{Segments: 30, Reserved: 8 * giB, Allocated: 5 * giB, Waiting: giB, Split: 3 * giB / 2, Cached: giB / 2, LargestFree: 300 * miB, Rounding: 10 * miB},
		Blocks: 500, Requested: at(5*giB - 10*miB), Private: giB, PrivateFree: giB / 4,
		Classes: []summary.SegmentClass{
			{Name: summary.ClassSmall, Usage: summary.Usage{Segments: 10, Reserved: giB, Allocated: giB}},
			{Name: summary.ClassOwn, Usage: summary.Usage{Segments: 20, Reserved: 7 * giB, Allocated: 4 * giB, Waiting: giB, Split: 3 * giB / 2, Cached: giB / 2, LargestFree: 300 * miB, Rounding: 10 * miB}},
		},
		History: &summary.MemoryHistory{
			Entries: 4000, StartNS: at(5 * sec), EndNS: at(7 * sec), Allocs: 2000, AllocBytes: 90 * giB, Frees: 1500, SegmentAllocs: 30, SegmentAllocBytes: 8 * giB,
			OlderBlocks: 7, OlderBytes: giB, Steps: []summary.MemoryStep{{Name: "ProfilerStep#1", StartNS: 5 * sec, NS: sec, Allocs: 900, SegmentAllocs: 30, Start: giB, Peak: 6 * giB}},
		},
		Peak:     &summary.MemoryPeak{Entry: 3000, NS: at(6 * sec), Live: 6 * giB, Waiting: giB, Reserved: 7 * giB, Sizes: "requested", HighestReserved: 8 * giB, HighestReservedNS: at(7 * sec)},
		OwnersAt: "peak", OwnersBytes: 6 * giB,
		Owners: []summary.Owner{
			{Kind: summary.KindActivations, Frame: "/app/model.py:7 forward", Bytes: 4 * giB, Count: 32, Stack: []string{"x"}},
			{Kind: summary.KindParameters, Frame: "/app/model.py:3 __init__", Bytes: 2 * giB, Count: 64, Stack: []string{"x"}},
		},
		Kinds:   []summary.Held{{Name: summary.KindActivations, Bytes: 4 * giB, Count: 32}, {Name: summary.KindParameters, Bytes: 2 * giB, Count: 64}},
		Labels:  []summary.Held{{Name: "step 1", Bytes: 4 * giB, Count: 32}, {Bytes: 2 * giB, Count: 64}},
		Largest: []summary.Owner{{Kind: summary.KindActivations, Frame: "/app/model.py:7 forward", Bytes: giB, Count: 1, NS: at(6 * sec)}},
		Failed:  1, Capacity: at(9 * giB),
		OutOfMemory:   []summary.OutOfMemory{{NS: at(13 * sec / 2), Wanted: 2 * giB, Free: at(giB), Reserved: at(8 * giB), Live: at(6 * giB), Kind: summary.KindActivations, Frame: "/app/model.py:9 logits"}},
		Configuration: "max_split_size_mb:512",
		Strip: &summary.OwnerStrip{StartNS: 5 * sec, BinNS: sec / 2, Live: []int64{2 * giB, 4 * giB, 6 * giB, 5 * giB}, Reserved: []int64{6 * giB, 6 * giB, 7 * giB, 8 * giB}, Owners: []summary.Stratum{
			{Name: "/app/model.py:7 forward", Kind: summary.KindActivations, Bytes: []int64{0, 2 * giB, 4 * giB, 3 * giB}},
			{Name: "/app/model.py:3 __init__", Kind: summary.KindParameters, Bytes: []int64{2 * giB, 2 * giB, 2 * giB, 2 * giB}},
		}},
	}
	second := summary.Snapshot{
		Device: 1, Usage: summary.Usage{Segments: 1, Reserved: 20 * giB, Allocated: 2 * giB, Cached: 18 * giB}, Blocks: 1,
		Classes:  []summary.SegmentClass{{Name: summary.ClassExpandable, Usage: summary.Usage{Segments: 1, Reserved: 20 * giB, Allocated: 2 * giB, Cached: 18 * giB}}},
		OwnersAt: "end", OwnersBytes: 2 * giB, Owners: []summary.Owner{{Kind: summary.KindUnknown, Bytes: 2 * giB, Count: 1}},
		Kinds: []summary.Held{{Name: summary.KindUnknown, Bytes: 2 * giB, Count: 1}},
	}
	return &summary.Summary{
		Schema: summary.Schema, Inputs: []summary.Input{{Path: "snapshot.pickle", Format: "torch-memory-snapshot", Compression: "none", Bytes: 5 << 20, Events: 4500, Complete: true}},
		Snapshots: []summary.Snapshot{first, second},
	}
}

func renderedText(t *testing.T, s *summary.Summary) (text, markdown string) {
	t.Helper()
	d := Build(s, judge.Judge(s, judge.DefaultThresholds()))
	var a, b bytes.Buffer
	if err := d.Text(&a, 80); err != nil {
		t.Fatal(err)
	}
	if err := d.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	return a.String(), b.String()
}

func wantAll(t *testing.T, text string, wanted ...string) {
	t.Helper()
	squeezed := strings.Join(strings.Fields(text), " ")
	for _, want := range wanted {
		if !strings.Contains(squeezed, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

// TestSnapshotReport: the figures of the fixture stand where they belong. What
// ran out of memory comes before what has more of it.
func TestSnapshotReport(t *testing.T) {
	text, markdown := renderedText(t, memoryRun())
	wantAll(t, text, "Verdict: out of memory", "2 GiB were wanted and the driver had 1 GiB left of the 9 GiB that the allocator could have.",
		"snapshot.pickle, torch-memory-snapshot, 5 MiB, 4,500 events, 2 devices, complete",
		"rank 0 device 0 6.000 8.000 8.000 5.000 1.500 0.500", "rank 0 device 1 – – 20.000 2.000 0.000 18.000",
		"2,000 allocations in 2 s, 30 cudaMalloc calls of 8 GiB, no cudaFree call, 1 failed allocation",
		"share of 6 GiB live at the peak on rank 0 device 0", "66.7% 4.000 32 activations app/model.py:7 forward")
	wantAll(t, markdown, "# GPU memory report: snapshot.pickle", "| rank 0 device 0 | 6.000 | 8.000 | 9.000 | 8.000 | 5.000 | 1.000 | 1.500 | 0.500 | 18.8% |",
		"6 GiB were live at the peak, 1 s after the first entry of the history; 7 blocks of 1 GiB are older than the recorded history.",
		"| `activations` | 4.000 | 66.7% | 32 |", "| `step 1` | 4.000 | 66.7% | 32 |", "| `(nothing)` | 2.000 | 33.3% | 64 |",
		"2 GiB are free, of which the largest block has 300 MiB (14.6%). Private pools, as CUDA graphs have, hold 1 GiB, of which 256 MiB are free and for nobody else.",
		"| own size, for larger blocks | 20 | 7.000 | 4.000 | 1.000 | 1.500 | 0.500 | 0.293 | 0.010 |",
		"4,000 entries: 2,000 allocations of 90 GiB, 1,500 frees in 2 s (1,000 a second).",
		"2 GiB were wanted, the driver had 1 GiB, 8 GiB were reserved and 6 GiB of it live; by `/app/model.py:9 logits`",
		"PYTORCH_CUDA_ALLOC_CONF is `max_split_size_mb:512`", "| `ProfilerStep#1` | 1.000 s | 1.000 | 6.000 | 900 | 30 | 0 |",
		"2 GiB were live when the snapshot was taken.", "(no stack)")
	if strings.Contains(text+markdown, "GPU events") {
		t.Error("a report on memory speaks of GPU events")
	}
}

// TestSnapshotCharts: the bands of a picture stack up to what was live, the same
// owner has one colour in all panels, and the pictures can be drawn.
func TestSnapshotCharts(t *testing.T) {
	s := memoryRun()
	s.Snapshots[1].Strip = &summary.OwnerStrip{StartNS: 0, BinNS: sec, Live: []int64{3 * giB}, Owners: []summary.Stratum{
		{Name: "/app/model.py:3 __init__", Bytes: []int64{giB}}, {Kind: summary.KindUnknown, Bytes: []int64{giB / 2}}, {Bytes: []int64{3 * giB / 2}},
	}}
	var names []string
	for _, c := range Charts(s, judge.Result{}) {
		names = append(names, c.Name)
		var b bytes.Buffer
		if err := c.PNG(&b); err != nil {
			t.Fatal(err)
		}
		if img, err := png.Decode(&b); err != nil || img.Bounds().Dx() != ChartWidth {
			t.Errorf("%s: %v", c.Name, err)
		}
		if c.Name != "memory-owners" {
			continue
		}
		var legend []string
		for _, sw := range c.Legend {
			legend = append(legend, sw.Text)
		}
		// Steady memory lies below what changes.
		if want := []string{"app/model.py:3 __init__", "no stack recorded", "app/model.py:7 forward", "all others"}; !slices.Equal(legend, want) {
			t.Errorf("legend %q, want %q", legend, want)
		}
		panels := c.Body.(Timeline).Panels
		if got := fmt.Sprint(panels[0].Tracks[0].Series); got != fmt.Sprint([]Series{
			{c.Legend[2].Color, sec / 2, []int64{2 * giB, 4 * giB, 6 * giB, 5 * giB}}, {c.Legend[1].Color, sec / 2, []int64{2 * giB, 2 * giB, 2 * giB, 2 * giB}}, {c.Legend[0].Color, sec / 2, []int64{2 * giB, 2 * giB, 2 * giB, 2 * giB}},
		}) {
			t.Errorf("series %s", got)
		}
		if top := panels[1].Tracks[0].Series[0]; top.Color != colorNothing || top.Values[0] != 3*giB {
			t.Errorf("the rest is %+v", top)
		}
	}
	if want := []string{"memory-reserved", "memory-owners"}; !slices.Equal(names, want) {
		t.Errorf("charts %v, want %v", names, want)
	}
	track := mustChart(t, s, "memory-reserved").Body.(Timeline).Panels[0].Tracks[0]
	if len(track.Marks) != 1 || track.Marks[0].NS != 3*sec/2 || track.Peak.NS != sec || track.Peak.Value != 6*giB {
		t.Errorf("%+v %+v", track.Marks, track.Peak)
	}
}

func mustChart(t *testing.T, s *summary.Summary, name string) Chart {
	t.Helper()
	for _, c := range Charts(s, judge.Result{}) {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no chart %s", name)
	return Chart{}
}

// timelineRun has a peak of 4 GiB, 3 of them activations.
func timelineRun() *summary.Summary {
	return &summary.Summary{
		Schema: summary.Schema, Inputs: []summary.Input{{Path: "m.raw.json.gz", Format: "torch-memory-timeline", Complete: true}},
		MemoryTimelines: []summary.MemoryTimeline{{
			Moments: 3, StartNS: sec, NS: sec, PeakNS: 3 * sec / 2, Peak: 4 * giB, Older: giB,
			Categories: []summary.CategoryBytes{{Name: "activations", AtPeak: 3 * giB, Highest: 3 * giB}, {Name: "parameters", AtPeak: giB, Highest: giB}},
			Strip:      &summary.OwnerStrip{StartNS: sec, BinNS: sec, Live: []int64{4 * giB}, Owners: []summary.Stratum{{Name: "activations", Bytes: []int64{3 * giB}}, {Name: "parameters", Bytes: []int64{giB}}}},
		}},
	}
}

// TestTimelineReport does the same for a timeline.
func TestTimelineReport(t *testing.T) {
	s := timelineRun()
	text, markdown := renderedText(t, s)
	wantAll(t, text, "Verdict: one owner has most of the memory", "75.0% of the memory at the peak is activations (3 GiB of 4 GiB), over the warn limit of 50%.", "activations 75.0% 3.000 3.000")
	wantAll(t, markdown, "The peak of 4 GiB is 500 ms after the first of 3 moments, which cover 1 s. 1 GiB are older than the profile.", "memory-categories.png")
}

// TestCategoryLegend: each category has its colour.
func TestCategoryLegend(t *testing.T) {
	if c := mustChart(t, timelineRun(), "memory-categories"); c.Legend[0].Text != "activations" || len(c.Legend) != 2 {
		t.Errorf("%+v", c.Legend)
	}
}

// hostileMemory has what no reader makes, but a file may hold.
func hostileMemory() *summary.Summary {
	s := memoryRun()
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

// TestHostileSnapshots: names steer no terminal, and every picture can be drawn.
func TestHostileSnapshots(t *testing.T) {
	s := hostileMemory()
	text, markdown := renderedText(t, s)
	if strings.ContainsAny(text+markdown, "\x1b\u202e") {
		t.Errorf("a name is not escaped:\n%s%s", text, markdown)
	}
	for _, c := range Charts(s, judge.Result{}) {
		if _, err := c.paint(); err != nil {
			t.Error(err)
		}
	}
}

// TestSnapshotNumbers: snapshots of one rank are told apart by their inputs.
func TestSnapshotNumbers(t *testing.T) {
	a, b := memoryRun(), memoryRun()
	a.Inputs[0].Path, b.Inputs[0].Path = "before.pickle", "after.pickle"
	text, markdown := renderedText(t, summary.Merge(a, b))
	wantAll(t, text, "#1 before.pickle", "#2 after.pickle", "#1 rank 0 device 0 6.000", "#2 rank 0 device 0 6.000")
	wantAll(t, strings.ReplaceAll(markdown, `\#`, "#"), "| #2 rank 0 device 0 | 6.000 |", "Who had the memory: #1 rank 0 device 0")
}
