package forms

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/logs"
)

// TestMarkSamples: each line about the life of a program is read from its sample, and by no other form.
func TestMarkSamples(t *testing.T) {
	for _, f := range markForms {
		if f.kind == markBar {
			continue
		}
		log := readText(t, Default(), f.sample+"\n")
		m := slices.DeleteFunc(log.Course.Marks, func(m logs.Mark) bool { return m.Kind == logs.MarkRaised && f.kind != m.Kind })
		if len(m) == 0 || m[0].Kind != f.kind || f.class != "" && !strings.HasPrefix(m[0].Class, f.class) {
			t.Errorf("%q: marks %+v, want %s %q", f.sample, m, f.kind, f.class)
		}
		for _, x := range m {
			if x.Kind != f.kind {
				t.Errorf("%q: also %s %q", f.sample, x.Kind, x.Class)
			}
		}
	}
}

// TestMarkFields: steps, times, places and folders of marks; 500 is where Megatron resumed, 8000 what torchtitan had done.
func TestMarkFields(t *testing.T) {
	text := `  successfully loaded checkpoint from /ckpt/gpt [ t 1/8, p 1/1 ] at iteration 500
[rank0]:[titan] 2026-05-08 09:00:51,258 - root - INFO - Training starts at step 8001
[rank5]: RuntimeError: CUDA error: uncorrectable ECC error encountered
slurmstepd: error: *** JOB 77 ON node-4 CANCELLED AT 2026-05-08T09:00:59 DUE TO NODE FAILURE ***
[rank0]:[titan] 2026-05-08 09:01:00,000 - root - INFO - Finished saving the checkpoint in 15.50 seconds.
`
	m := slices.DeleteFunc(readText(t, Default(), text).Course.Marks, func(m logs.Mark) bool { return m.Kind == logs.MarkRaised })
	at := int64(1778230851258e6)
	want := []logs.Mark{
		{Kind: logs.MarkLoaded, Line: 1, Step: 500, Rank: -1, NS: -1, Path: "/ckpt/gpt", Time: logs.NoTime, Seen: logs.NoTime},
		{Kind: logs.MarkBegins, Line: 2, Step: 8000, Rank: 0, NS: -1, Time: at, Seen: at},
		{Kind: logs.MarkFailed, Class: "GPU error uncorrectable ECC error", Line: 3, Step: logs.NoStep, Rank: 5, NS: -1, Time: logs.NoTime, Seen: logs.NoTime},
		{Kind: logs.MarkStopped, Class: "node failure", Line: 4, Step: logs.NoStep, Rank: -1, NS: -1, Node: "node-4", Time: at - 258e6 + 8e9, Seen: logs.NoTime},
		{Kind: logs.MarkSaved, Line: 5, Step: logs.NoStep, Rank: 0, NS: 15.5e9, Time: at - 258e6 + 9e9, Seen: at - 258e6 + 9e9},
	}
	for i := range m {
		m[i].Text = ""
		if m[i].Kind == logs.MarkFailed || m[i].Kind == logs.MarkStopped {
			m[i].Seen = logs.NoTime // the kind of times of the log is not known without values
		}
	}
	if !slices.Equal(m, want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
}

// TestNoMarks: lines that only look like those of a program's life.
func TestNoMarks(t *testing.T) {
	for _, line := range []string{
		"the answer says: \"ValueError: this is a text of a model\"",
		"{'text': 'an Error: of nobody'}",
		"we explain how CUDA out of memory is avoided",
		"Training completed-steps report: 5",
		"Loading checkpoint shards:  67%|x| 2/3 [00:05<00:02,  2.61s/it]",
		"  • Generation KL Error: 0.0012",
	} {
		if m := readText(t, Default(), line+"\n").Course.Marks; len(m) > 0 {
			t.Errorf("%q: %+v", line, m)
		}
	}
}

// TestTimesOfLines: the first and last time of a text of many lines, and its gaps of 60 s and 7 s, whatever the size of the
// lines; lines without a time, and pauses of 4 s, do not count.
func TestTimesOfLines(t *testing.T) {
	for _, width := range []int{1, 90, 1500} {
		var b strings.Builder
		second := 0
		write := func(n int) {
			for range n {
				fmt.Fprintf(&b, "2026-01-02 %02d:%02d:%02d INFO %s\n", second/3600, second/60%60, second%60, strings.Repeat("x", width))
				b.WriteString("no time here\n")
			}
		}
		for i := range 400 {
			write(3)
			switch i {
			case 100:
				second += 60
			case 250:
				second += 7
			case 300:
				second += 4
			default:
				second++
			}
		}
		write(1)
		b.WriteString(strings.Repeat("end\n", 100))
		c := readText(t, Default(), b.String()).Course
		zero := int64(1767312000e9)
		want := []logs.Gap{{From: zero + 100e9, To: zero + 160e9}, {From: zero + 309e9, To: zero + 316e9}}
		if c.First != zero || c.Last != zero+468e9 || !slices.Equal(c.Gaps, want) {
			t.Errorf("width %d: %d s to %d s, gaps %v, want %v", width, (c.First-zero)/1e9, (c.Last-zero)/1e9, c.Gaps, want)
		}
	}
}
