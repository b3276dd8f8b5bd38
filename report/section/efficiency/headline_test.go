package efficiency_test

import (
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/report"
	"assay/summary"
)

// TestHeadline: the sentence with the verdict has the bandwidth of decode steps, and no MFU
// where the GPU ran work that was not recorded. A step of 10 ms moves 16.76 GB at a peak of
// 3,352 GB/s.
func TestHeadline(t *testing.T) {
	line := func(s *summary.Summary) string {
		t.Helper()
		var out strings.Builder
		if err := report.Build(s, samplerun.Judged(s)).Text(&out, 200); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(strings.Join(strings.Fields(out.String()), " "), "Efficiency: ")
		return rest
	}
	s := samplerun.Efficient()
	if got := line(s); !strings.HasPrefix(got, "MFU at least 13.8% and at most 33.8%; up to 5.57 ms recoverable (39.8% of GPU time, of the 73.6% with a roofline), ") {
		t.Errorf("efficiency: %.200s", got)
	}
	// 14 ms of GPU time and 6 ms more of communication: of the 20 ms, 14 ms count.
	c := samplerun.Efficient()
	c.Efficiency.Devices[0].GPUNS += 6 * samplerun.MS
	c.Efficiency.Devices[0].CommNS += 6 * samplerun.MS
	if got := line(c); !strings.Contains(got, "; up to 5.57 ms recoverable (39.8% of GPU time without communication, of the 73.6% with a roofline),") {
		t.Errorf("efficiency with communication: %s", got)
	}
	s.Efficiency.Decode = []summary.EfficiencyDecode{{
		Name: "decode", Batch: 32, WeightBytes: samplerun.Whole(16_000_000_000), KVReadBytes: samplerun.Whole(759_000_000), KVWrittenBytes: samplerun.Whole(1_000_000),
		WallNS: 10 * samplerun.MS, GPUNS: 10 * samplerun.MS, GBPS: samplerun.PctOf(1676), Share: samplerun.PctOf(0.5), ShareGPU: samplerun.PctOf(0.5),
	}}
	s.Idle = append(s.Idle, summary.Idle{Device: s.Efficiency.Devices[0].Device, Owner: summary.OwnerNotRecorded, NS: samplerun.MS, Count: 1, MaxNS: samplerun.MS})
	if got := line(s); !strings.HasPrefix(got, "decode at 50.0% of memory bandwidth (batch 32); up to 5.57 ms recoverable (39.8% of GPU time, of the 73.6% with a roofline), ") {
		t.Errorf("efficiency of decode: %.200s", got)
	}
}

// TestHeadlineFewPlaced: where less than half of the GPU time has a roofline, the rest may recover more than what is known,
// so the screen does not state it. Of 14 ms, 5.57 ms are recoverable.
func TestHeadlineFewPlaced(t *testing.T) {
	for roofline, want := range map[int64]string{
		1_000_000: "Efficiency: MFU",                                                 // 6.57 ms of 14 ms
		1_431_623: "up to 5.57 ms recoverable (39.8% of GPU time, of the 50.0% with", // 7 ms
		8_431_623: "up to 5.57 ms recoverable (39.8% of GPU time), ",                 // all
	} {
		s := samplerun.Efficient()
		s.Efficiency.Devices[0].RooflineNS = roofline
		var out strings.Builder
		if err := report.Build(s, samplerun.Judged(s)).Text(&out, 200); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(got, want) || roofline == 1_000_000 && strings.Contains(got, "recoverable (") {
			t.Errorf("%d ns at the roofline: want %q in %.600s", roofline, want, got)
		}
	}
}
