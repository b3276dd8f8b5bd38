package report

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/internal/unit"
	"assay/summary"
)

// TestLaunches compares the tables with the rows of attributedLaunches.
func TestLaunches(t *testing.T) {
	md := markdownOf(t, samplerun.Attributed(1))
	wantRows(t, md, "Launches",
		"GPU|launch calls|GPU operations|without a call|queue time, median|queue time, p99|short kernels|% of launches|% of kernel time|calls per step, median|min–max",
		"rank 0 GPU 0|3,000|3,090|10|10–15 µs|20–30 ms|1,000|33.3%|1.3%|750|740–760",
		"queue length|time (ms)|% of window", "0|550.00|55.0%", "1|100.00|10.0%", "2–3|150.00|15.0%", "4 or more|200.00|20.0%")
	wantText(t, md, "3,000 calls launched 3,090 of 3,100 GPU operations; queue time: median 10–15 µs, p99 20–30 ms; short kernels (under 10 µs): 33.3% of launches.")
	// Two ranks: of 2010 ms, 550+560 at depth 0.
	rows := tableOf(t, markdownOf(t, samplerun.Attributed(2)), "Launches")
	if got := strings.Join(rows[4], "|"); got != "0|1.110|55.2%" {
		t.Errorf("the queues of two devices are %s", got)
	}
}

// TestCalls: all GPUs are idle for 200 of 800 ms of waits, but not during the long wait
// for a busy GPU.
func TestCalls(t *testing.T) {
	md := markdownOf(t, samplerun.Attributed(1))
	wantText(t, md, "Blocking calls (synchronization, and copies that ended before their call returned) took 800 ms. A GPU was busy for 600 ms (75.0%) of it. "+
		"All GPUs were idle for the other 200 ms (25.0%).")
	wantRows(t, md, "CUDA API calls",
		"call|kind|total (ms)|%|calls|mean|max|launches|blocked, GPU busy (ms)|blocked, GPU idle (ms)",
		"`cudaStreamSynchronize`|sync|500.00|61.0%|50|10.00 ms|50.00 ms|0|300.00|200.00",
		"`cudaDeviceSynchronize`|sync|300.00|36.6%|1|300.0 ms|30.00 ms|0|300.00|0.00",
		"`cudaLaunchKernel`|launch|15.00|1.8%|3,000|5.000 µs|1.500 ms|3,000||",
		"`cudaMemcpyAsync`|copy|5.00|0.6%|100|50.00 µs|500.0 µs|100||")
}

// TestSavedByNotWaiting: 30 and 10 ms, after two kinds of waits, of all idle
// time.
func TestSavedByNotWaiting(t *testing.T) {
	s := samplerun.Attributed(1)
	idle := s.Devices[0].Activity.Idle()
	s.Syncs = []summary.Sync{{Calls: 1, LostNS: 30 * ms}}
	s.CopyCalls = []summary.CopyCall{{Name: "Memcpy DtoH", Call: "cudaMemcpy", Class: "copy", LostNS: 10 * ms}}
	want := fmt.Sprintf("A blocked CPU also launches the next operations late. Without the waits, up to 40 ms (%s) of the %s of idle time could be saved.",
		unit.Share(40*ms, idle), unit.Duration(idle))
	wantText(t, markdownOf(t, s), want)
}

// TestGraphs: a graph without node trace has no nodes and no idle time in the table.
func TestGraphs(t *testing.T) {
	wantRows(t, markdownOf(t, samplerun.Attributed(1)), "Graphs",
		"GPU|graph|call|launches|nodes|span (ms)|total (ms)|idle in span|mean queue time (µs)|mean call (µs)|first operation",
		"rank 0 GPU 0|1|`cudaGraphLaunch`|10|40|40.000|30.000|25.0%|20.000|50.000|`flash_fwd_kernel`",
		"rank 0 GPU 0|2|`cudaGraphLaunch`|5|–|10.000|10.000|–|20.000|10.000|`flash_fwd_kernel`")
}

// TestMemory compares the tables with the rows of attributedMemory. No share
// is of what is not known, the size of the device.
func TestMemory(t *testing.T) {
	md := markdownOf(t, samplerun.Attributed(1))
	wantRows(t, md, "Memory",
		"memory of|peak allocated (GiB)|peak reserved (GiB)|allocated at the start (GiB)|peak at (ns)|allocations|frees",
		"rank 0 GPU 0|60.000|72.000|20.000|1763000000400000123|12,000|11,900",
		"operator|module|allocated (GiB)|%|allocations",
		"`aten::empty`|`GPT_0/Block_0/Linear_0`|24.000|60.0%|100", "`aten::mm`|`GPT_0/Block_1`|10.000|25.0%|50", "`(no operator)`||4.000|10.0%|1")
	wantText(t, md, "rank 0 GPU 0: at the peak, 40 GiB was allocated during the capture (of 60 GiB); the other 20 GiB is older.",
		"Others: 2 GiB (5.0%).")
	s := samplerun.Attributed(1)
	*s.Memory[0].StartAllocated /= 4
	wantText(t, markdownOf(t, s), "allocated during the capture (of 60 GiB); 5 GiB is older; 15 GiB has no record of its allocation.")
	s = samplerun.ModulesOnly()
	s.Memory[0].PeakAllocated, s.Memory[0].StartAllocated, s.Memory[0].Live = nil, nil, nil
	wantRows(t, markdownOf(t, s), "Memory", "memory of|peak reserved (GiB)|allocations|frees", "host|72.000|12,000|11,900")
	if strings.Contains(text(t, Build(s, judged(s)), 80), "\nMemory") {
		t.Error("the screen tells of memory of the host")
	}
}
