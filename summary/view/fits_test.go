package view

import (
	"strings"
	"testing"

	"assay/summary"
)

const gib = 1 << 30

// held returns a snapshot of rank 0, whose memory at a moment belongs to these owners in GiB.
func held(at string, reserved int64, owners map[string]int64) *summary.Summary {
	m := summary.Snapshot{Moment: &summary.MemoryMoment{At: at, Reserved: reserved * gib}}
	s := &summary.Summary{Inputs: []summary.Input{{Path: "a"}}}
	for owner, n := range owners {
		m.Moment.Live += n * gib
		s.MemoryUses = append(s.MemoryUses, summary.MemoryUse{Owner: owner, Bytes: n * gib, Count: 1})
	}
	s.Snapshots = []summary.Snapshot{m}
	return s
}

// TestMemoryFits: 8 samples take 16 GiB of activations and 20 GiB stay; the sizes that fit are computed by hand.
func TestMemoryFits(t *testing.T) {
	owners := map[string]int64{summary.UseWeights: 8, summary.UseOptimizer: 12, summary.UseActivations: 12, summary.UseActivationGradients: 4}
	batch := func(value string) func(*summary.Summary) {
		return func(s *summary.Summary) {
			s.Settings = append(s.Settings, summary.Setting{Name: "train.micro_batch", Value: value})
		}
	}
	fails := func(wanted, capacity int64) func(*summary.Summary) {
		return func(s *summary.Summary) {
			s.Snapshots[0].Failed, s.Snapshots[0].Capacity = 1, new(capacity*gib)
			s.Snapshots[0].OutOfMemory = []summary.OutOfMemory{{Wanted: wanted * gib}}
		}
	}
	has := func(n int64) func(*summary.Summary) {
		return func(s *summary.Summary) { s.Memory = []summary.Memory{{Capacity: new(n * gib)}} }
	}
	for _, tt := range []struct {
		name, at string
		reserved int64
		changes  []func(*summary.Summary)
		want     string
	}{
		{"a peak with room", "peak", 38, []func(*summary.Summary){batch("8"), has(48)}, // (48-20-2)/2 = 13; (48-20)/2 = 14
			"micro-batch 13 would fit, 15 would not: activations take 2 GiB for each sample (error ±1.0 samples, from what is not distinguished or fragmented)"},
		{"a peak of a GPU of unknown size", "peak", 38, []func(*summary.Summary){batch("8")}, ""},
		{"a peak of an unknown micro-batch", "peak", 38, []func(*summary.Summary){has(48)}, ""},
		{"a failure", "failure", 36, []func(*summary.Summary){batch("8"), fails(6, 38)}, // 8 * 18 / 22 = 6.5
			"micro-batch 8 does not fit: activations need 22 GiB or more, and 18 GiB are left for them; at most 6 fits"},
		{"a failure with one sample", "failure", 36, []func(*summary.Summary){batch("1"), fails(6, 38)},
			"micro-batch 1 does not fit: activations need 22 GiB or more, and 18 GiB are left for them; no micro-batch fits"},
		{"a failure of an unknown micro-batch", "failure", 36, []func(*summary.Summary){fails(6, 38)},
			"activations (16 GiB) grow with the micro-batch, the other 20 GiB do not: half of it frees about 8 GiB"},
		{"two sizes in the logs", "failure", 36, []func(*summary.Summary){batch("8"), batch("4"), fails(6, 38)},
			"activations (16 GiB) grow with the micro-batch, the other 20 GiB do not: half of it frees about 8 GiB"},
		{"micro-batches that are filled by tokens", "failure", 36, []func(*summary.Summary){batch("8"), fails(6, 38), func(s *summary.Summary) {
			s.Settings = append(s.Settings, summary.Setting{Producer: "NeMo RL", Name: "train.remove_padding", Value: "true"})
		}}, "activations (16 GiB) grow with the micro-batch, the other 20 GiB do not: half of it frees about 8 GiB"},
		{"samples without padding", "failure", 36, []func(*summary.Summary){batch("8"), fails(6, 38), func(s *summary.Summary) {
			s.Settings = append(s.Settings, summary.Setting{Producer: "SkyRL", Name: "train.remove_padding", Value: "true"})
		}}, "micro-batch 8 does not fit: activations need 22 GiB or more, and 18 GiB are left for them; at most 6 fits"},
		{"a failure in fragments", "failure", 36, []func(*summary.Summary){batch("8"), fails(1, 60)}, ""},
		{"mostly fragments", "failure", 70, []func(*summary.Summary){batch("8"), fails(6, 71)}, ""},
		{"the end of a capture", "end", 36, []func(*summary.Summary){batch("8"), has(48)}, ""},
	} {
		s := held(tt.at, tt.reserved, owners)
		for _, change := range tt.changes {
			change(s)
		}
		if got := MemoryFits(s, &s.Snapshots[0]); got != tt.want {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

// TestFailedLater: the first GPU that failed comes first, whatever it holds, and the others with their time. Without a
// time of each there is no order.
func TestFailedLater(t *testing.T) {
	row := func(rank int, failed, ns, reserved int64) summary.Snapshot {
		m := summary.Snapshot{Rank: rank, Failed: failed, Usage: summary.Usage{Reserved: reserved}}
		if failed > 0 {
			m.OutOfMemory = []summary.OutOfMemory{{}}
			if ns > 0 {
				m.OutOfMemory[0].NS = new(ns)
			}
		}
		return m
	}
	s := &summary.Summary{Inputs: make([]summary.Input, 4), Snapshots: []summary.Snapshot{row(0, 0, 0, 90), row(1, 1, 9e9, 80), row(2, 1, 5e9, 10), row(3, 2, 7e9, 70)}}
	for i := range s.Snapshots {
		s.Snapshots[i].Input = i
	}
	ranks := func() (out []int) {
		for _, m := range Snapshots(s) {
			out = append(out, m.Rank)
		}
		return out
	}
	if got := ranks(); got[0] != 2 || got[1] != 3 || got[2] != 1 || got[3] != 0 {
		t.Errorf("order %v, want 2 3 1 0", got)
	}
	later := strings.Join(FailedLater(s), ", ")
	if !strings.Contains(later, "rank 3 GPU 0 failed 2 s later") || !strings.Contains(later, "rank 1 GPU 0 failed 4 s later") {
		t.Errorf("later: %q", later)
	}
	s.Snapshots[3].OutOfMemory[0].NS = nil
	if got := ranks(); got[0] != 1 || len(FailedLater(s)) != 0 {
		t.Errorf("without a time: order %v, later %q", got, FailedLater(s))
	}
}
