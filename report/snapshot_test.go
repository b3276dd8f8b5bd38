package report

import (
	"bytes"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/judge/rule"
	"assay/report/pictures"
	"assay/summary"
)

func renderedText(t *testing.T, s *summary.Summary) (text, markdown string) {
	t.Helper()
	d := Build(s, judge.Judge(s, rule.DefaultThresholds()))
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
	text, markdown := renderedText(t, samplerun.Memory())
	wantAll(t, text, "Verdict: out of memory", "Out of memory on rank 0 GPU 0: tried to allocate 2 GiB, 1 GiB free; this process has 8 GiB.",
		"snapshot.pickle, PyTorch memory snapshot, 5 MiB, 4,500 events, complete",
		"rank 0 GPU 0 6.000 8.000 8.000 5.000 1.500 0.500", "rank 0 GPU 1 – – 20.000 2.000 0.000 18.000",
		"2,000 allocations in 2 s, 30 cudaMalloc calls of 8 GiB, no cudaFree call, 1 failed allocation",
		"6 GiB allocated at the peak on rank 0 GPU 0", "66.7% 4.000 32 activations app/model.py:7 forward")
	wantAll(t, markdown, "# GPU memory report: snapshot.pickle", "| rank 0 GPU 0 | 6.000 | 8.000 | 9.000 | 8.000 | 5.000 | 1.000 | 1.500 | 0.500 | 18.8% |",
		"6 GiB was allocated at the peak, 1 s after the first entry of the history; 7 blocks (1 GiB) older than the recorded history.",
		"| `activations` | 4.000 | 66.7% | 32 |", "| `step 1` | 4.000 | 66.7% | 32 |", "| `(no label)` | 2.000 | 33.3% | 64 |",
		"2 GiB is free. The largest free block has 300 MiB (14.6%). Private pools (for example of CUDA graphs) have 1 GiB; 256 MiB of it is free, but only for their pool.",
		"| own size, for larger blocks | 20 | 7.000 | 4.000 | 1.000 | 1.500 | 0.500 | 0.293 | 0.010 |",
		"4,000 entries: 2,000 allocations of 90 GiB, 1,500 frees in 2 s (1,000 a second).",
		"tried to allocate 2 GiB, free in the driver 1 GiB, reserved 8 GiB, allocated 6 GiB; site `/app/model.py:9 logits`",
		"PYTORCH_CUDA_ALLOC_CONF: `max_split_size_mb:512`", "| `ProfilerStep#1` | 1.000 s | 1.000 | 6.000 | 900 | 30 | 0 |",
		"2 GiB was allocated when the snapshot was taken.", "(no stack)")
	if strings.Contains(text+markdown, "GPU events") {
		t.Error("a report on memory speaks of GPU events")
	}
}

// TestTimelineReport does the same for a timeline.
func TestTimelineReport(t *testing.T) {
	s := samplerun.MemoryTimeline()
	text, markdown := renderedText(t, s)
	wantAll(t, text, "Verdict: one site dominates", "Activations: 75.0% of the memory at the peak (3 GiB of 4 GiB); limit 50%.", "activations 75.0% 3.000 3.000")
	wantAll(t, markdown, "Peak: 4 GiB, 500 ms after the first of 3 moments (1 s in total). 1 GiB is older than the profile.", "memory-categories.png")
}

// TestHostileSnapshots: names steer no terminal, and every picture can be drawn.
func TestHostileSnapshots(t *testing.T) {
	s := samplerun.HostileMemory()
	text, markdown := renderedText(t, s)
	if strings.ContainsAny(text+markdown, "\x1b\u202e") {
		t.Errorf("a name is not escaped:\n%s%s", text, markdown)
	}
	for _, c := range pictures.Of(s, judge.Result{}) {
		if _, err := c.Paint(); err != nil {
			t.Error(err)
		}
	}
}

// TestSnapshotNumbers: snapshots of one rank have the numbers of their inputs.
func TestSnapshotNumbers(t *testing.T) {
	a, b := samplerun.Memory(), samplerun.Memory()
	a.Inputs[0].Path, b.Inputs[0].Path = "before.pickle", "after.pickle"
	text, markdown := renderedText(t, summary.Merge(a, b))
	wantAll(t, text, "#1 before.pickle", "#2 after.pickle", "#1 rank 0 GPU 0 6.000", "#2 rank 0 GPU 0 6.000")
	wantAll(t, strings.ReplaceAll(markdown, `\#`, "#"), "| #2 rank 0 GPU 0 | 6.000 |", "Memory by allocation site: #1 rank 0 GPU 0")
}
