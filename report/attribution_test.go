package report

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"assay/internal/test/samplerun"
	"assay/summary"
)

// wantRows compares the first rows of the first table below a heading, titles
// included, with what was worked out by hand.
func wantRows(t *testing.T, markdown, heading string, want ...string) [][]string {
	t.Helper()
	rows := tableOf(t, markdown, heading)
	for i, w := range want {
		got := "no row"
		if i < len(rows) {
			got = strings.Join(rows[i], "|")
		}
		if got != w {
			t.Errorf("%s: row %d is\n%s, want\n%s", heading, i, got, w)
		}
	}
	return rows
}

func markdownOf(t *testing.T, s *summary.Summary) string {
	t.Helper()
	return render(t, Build(s, judged(s)).Markdown)
}

// wantText reports what a text lacks.
func wantText(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("nothing says %q", w)
		}
	}
}

// TestIdleOwners compares the tables with the comment of attributed, and adds
// them up: the reasons of a device are its idle time, printed digit by digit.
func TestIdleOwners(t *testing.T) {
	md := markdownOf(t, samplerun.Attributed(1))
	rows := wantRows(t, md, "Idle time by cause",
		"cause|in|idle (ms)|% of idle|% of window|intervals|longest (ms)",
		"host wait: synchronization|`cudaStreamSynchronize`|250.00|41.7%|25.0%|50|100.00",
		"host wait: Python code|`/home/me/project/trainer/loop.py(123): train_step`|150.00|25.0%|15.0%|700|3.00")
	sum := 0.0
	for _, row := range rows[1:] {
		sum += numberOf(t, row[2])
	}
	if len(rows) != 8 || sum != 600 {
		t.Errorf("%d reasons sum to %g ms, want 7 and 600", len(rows)-1, sum)
	}
	wantText(t, md, "Idle time is 60.0% of the window (600 ms). By cause: host wait 480 ms (80.0%), launch latency 50 ms (8.3%), "+
		"dependency wait 40 ms (6.7%), profiler overhead 20 ms (3.3%), unattributed 10 ms (1.7%).",
		"- **dependency wait** launched in time", "  - **data loading** in a data loader")

	// Ranks 0 to 7: idle 8*600+280 = 5080 of 8*1000+280, host-late 8*480+280.
	rows = wantRows(t, markdownOf(t, samplerun.Attributed(8)), "Idle time by cause",
		"GPU|idle (ms)|% of window|host wait (ms)|%|dependency wait (ms)|%|launch latency (ms)|%|profiler overhead (ms)|%|unattributed (ms)|%",
		"mean of 8|635.00|61.4%|515.00|81.1%|40.00|6.3%|50.00|7.9%|20.00|3.1%|10.00|1.6%",
		"rank 7 GPU 7|670.00|62.6%|550.00|82.1%|40.00|6.0%|50.00|7.5%|20.00|3.0%|10.00|1.5%")
	for _, row := range rows[1:10] {
		owners := 0.0
		for i := 3; i < len(row); i += 2 {
			owners += numberOf(t, row[i])
		}
		if idle := numberOf(t, row[1]); owners < idle-1e-9 || owners > idle+1e-9 {
			t.Errorf("%s: owners sum to %g of %g", row[0], owners, idle)
		}
	}
}

// TestIdleRest: reasons that are not shown are counted with their time, and a
// summary whose reasons do not sum to the idle time is not passed off as one
// whose do.
func TestIdleRest(t *testing.T) {
	s := samplerun.ManyReasons(40)
	md := markdownOf(t, s)
	wantText(t, md, "\n28 more causes (70.0% of idle time)\n", "The other causes take 28 ms.")
	if strings.Contains(md, "does not account") {
		t.Error("reasons that sum to the idle time are said not to")
	}
	s.Idle = s.Idle[:3]
	wantText(t, markdownOf(t, s), "All causes sum to 3 ms, but the idle time is 40 ms: the summary does not explain the difference.")
	wantText(t, markdownOf(t, samplerun.Attributed(20)), "The JSON has the causes of 16 more GPUs.")
}

// TestGaps: starts are the digits of the trace, and what is not listed is
// counted: 100 gaps of 600 ms, of which 100+80+40 are shown.
func TestGaps(t *testing.T) {
	md := markdownOf(t, samplerun.Attributed(1))
	wantRows(t, md, "Largest gaps",
		"start (ns)|into the window (ms)|length (ms)|% of window|cause|in|before|after",
		"1763000000500000123|500.00|100.00|10.0%|host wait: synchronization|`cudaStreamSynchronize`|`Memcpy DtoH (Device -> Pageable)`|`ampere_bf16_s16816gemm_bf1…2f_stages_64x3_nn`",
		"1763000000700000123|700.00|80.00|8.0%|host wait: data loading|`DataLoader.__next__`|`vectorized_elementwise_kernel<4, FillFuncto…`|`flash_fwd_kernel`",
		"1763000000800000123|800.00|40.00|4.0%|dependency wait||`flash_fwd_kernel`|`flash_fwd_kernel`")
	wantText(t, md, "\n97 more gaps (63.3% of the time of all gaps)\n")
	rows := tableOf(t, markdownOf(t, samplerun.Attributed(20)), "Largest gaps")
	if len(rows) != 1+20 || rows[1][0] != "rank 19 GPU 19" || rows[1][3] != "290.00" {
		t.Errorf("%d rows, the first is %v", len(rows), rows[1])
	}
}

// TestOldSummary: a summary that knows nothing of owners is shown as it was
// before there were any, whatever gaps it lists. The golden files of train and
// host hold the rest.
func TestOldSummary(t *testing.T) {
	s := samplerun.Train()
	want := markdownOf(t, s)
	s.Devices[0].LargestGaps = []summary.Gap{{StartNS: 7, NS: 5 * ms}}
	if _, got, _ := strings.Cut(markdownOf(t, s), "## Steps"); got != want[strings.Index(want, "## Steps")+len("## Steps"):] {
		t.Errorf("it is now\n%s", got)
	}
	if strings.Contains(markdownOf(t, s), "Largest gaps") {
		t.Error("gaps without owners are listed")
	}
}

// TestAttribution compares the tables of what launched work with the comment
// of attributed: 400 ms of GPU work in all.
func TestAttribution(t *testing.T) {
	md := markdownOf(t, samplerun.Attributed(1))
	wantRows(t, md, "Operators by self GPU time",
		"operator|self (ms)|self %|total (ms)|total %|calls|GPU operations|self CPU (ms)|top shape|shape %",
		"`aten::mm`|300.00|75.0%|300.00|75.0%|500|1,000|60.000|`[[4096, 4096], [4096, 11008]] [\"bf16\", \"bf16\"]`|75.0%",
		"`aten::add_`|60.00|15.0%|60.00|15.0%|500|1,000|20.000||",
		"`aten::copy_`|20.00|5.0%|20.00|5.0%|500|100|10.000||",
		"`Attention`|0.00|0.0%|20.00|5.0%|500|0|5.000||")
	wantRows(t, md, "Modules",
		"module|self (ms)|self %|total (ms)|total %|calls|backward %|CPU time (ms)",
		"`GPT_0`|0.00|0.0%|340.00|85.0%|4|58.8%|340.00",
		"`· Block_0`|50.00|12.5%|200.00|50.0%|4|60.0%|200.00",
		"`· · Linear_0`|150.00|37.5%|150.00|37.5%|4|60.0%|150.00",
		"`· Block_1`|137.00|34.3%|140.00|35.0%|4|57.1%|140.00")
	wantRows(t, md, "Source lines",
		"line|self (ms)|self %|total (ms)|total %|calls|CPU time (ms)",
		"`model/attention.py:77 forward`|240.00|60.0%|240.00|60.0%|48|90.00",
		"`project/train.py:12 step`|120.00|30.0%|360.00|90.0%|4|900.00")
	wantRows(t, md, "Annotations",
		"annotation|self (ms)|self %|total (ms)|total %|calls|CPU time (ms)",
		"`forward \\| loss`|100.00|25.0%|100.00|25.0%|4|200.00")
	wantRows(t, md, "Forward, backward, optimizer",
		"pass|GPU time (ms)|%|GPU operations|mean (ms)",
		"`backward`|220.00|55.0%|100|2.200", "`forward`|100.00|25.0%|100|1.000", "`optimizer`|60.00|15.0%|100|0.600", "`other`|20.00|5.0%|100|0.200")
	wantText(t, md, "Operators launched 95.0% of total GPU time (380 ms of 400 ms; kernels, copies and memsets)", "\n1 more module (0.8% of total GPU time)\n")

	// Two ranks add up: 800 ms of work, the shares stay.
	wantRows(t, markdownOf(t, samplerun.Attributed(2)), "Operators by self GPU time",
		"operator|self (ms)|self %|total (ms)|total %|calls|GPU operations|self CPU (ms)|top shape|shape %",
		"`aten::mm`|600.00|75.0%|600.00|75.0%|1,000|2,000|120.00|`[[4096, 4096], [4096, 11008]] [\"bf16\", \"bf16\"]`|75.0%")
}

// TestImpactOrder: sections on idle time are first if the GPU is idle for more than half
// of the window; otherwise sections on work are first.
func TestImpactOrder(t *testing.T) {
	order := func(text string, words ...string) {
		t.Helper()
		last := -1
		for _, w := range words {
			at := strings.Index(text, w)
			if at <= last {
				t.Errorf("%q is at %d, after one at %d", w, at, last)
			}
			last = at
		}
	}
	s := samplerun.Attributed(1)
	d := Build(s, judged(s))
	order(render(t, d.Markdown), "## Steps", "## Idle time by cause", "## Largest gaps", "## Launches", "## CUDA API calls", "## Graphs", "## Kernels",
		"## Operators", "## Modules", "## Source lines", "## Annotations", "## Forward", "## Copies", "## Memory")
	order(text(t, d, 80), "GPU time breakdown", "\nIdle time", "Largest gap: 100 ms at ts 1763000000500000.123 µs", "3,000 calls launched 3,090 of 3,100 GPU operations", "\nTop kernels",
		"\nMemory: peak 60 GiB allocated, peak 72 GiB reserved")

	// A tenth of each reason, and compute instead: 60 of 1000 ms are idle.
	for i := range s.Idle {
		s.Idle[i].NS /= 10
	}
	s.Devices[0].Activity = samplerun.Cells(map[summary.Class]int64{comp: 920, copies: 20, 0: 60})
	d = Build(s, judged(s))
	order(render(t, d.Markdown), "## Kernels", "## Operators", "## Forward", "## Idle time by cause", "## Launches", "## Copies", "## Memory")
	screen := text(t, d, 80)
	order(screen, "GPU time breakdown", "\nTop kernels", "\nTop operators by self GPU time (400 ms; ", "\n  75.0%     300.00    500  aten::mm\n", "\nIdle time by cause (60 ms, 6.0% of the window)",
		"\n  41.7%     25.000  host wait: synchronization  cudaStreamSynchronize\n", "\n  4 more causes, 20.0%\n", "\nMemory: ")
	var files []string
	for _, c := range d.Charts() {
		files = append(files, c.Name)
	}
	if got := strings.Join(files, " "); got != "time-budget activity critical-path steps top-kernels top-operators idle queue memory durations" {
		t.Errorf("the pictures are %s", got)
	}
}

// TestRowOrder: the order of the rows of a summary is nothing that a reader
// sees.
func TestRowOrder(t *testing.T) {
	for _, make := range []func() *summary.Summary{func() *summary.Summary { return samplerun.Attributed(8) }, func() *summary.Summary { return samplerun.ManyReasons(40) }} {
		s := make()
		want := markdownOf(t, s)
		for seed := range uint64(5) {
			s := make()
			rnd := rand.New(rand.NewPCG(seed, 1))
			shuffle(rnd, s.Idle)
			shuffle(rnd, s.Ops)
			shuffle(rnd, s.Modules)
			shuffle(rnd, s.Lines)
			shuffle(rnd, s.Annotations)
			shuffle(rnd, s.Passes)
			shuffle(rnd, s.Calls)
			shuffle(rnd, s.Launches)
			shuffle(rnd, s.Graphs)
			shuffle(rnd, s.Memory)
			for i := range s.Memory {
				shuffle(rnd, s.Memory[i].Live)
			}
			for i := range s.Ops {
				shuffle(rnd, s.Ops[i].TopShapes)
			}
			if got := markdownOf(t, s); got != want {
				t.Errorf("the rows in another order give\n%s", got)
			}
		}
	}
}

func shuffle[T any](rnd *rand.Rand, list []T) {
	rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// TestManyRows: ten thousand rows of each kind take no time to speak of, and
// the report stays one that can be read.
func TestManyRows(t *testing.T) {
	s := samplerun.ManyReasons(10_000)
	start := time.Now()
	md := markdownOf(t, s)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if len(md) > 200_000 {
		t.Errorf("the report has %d bytes", len(md))
	}
	wantText(t, md, "\n9,975 more operators (99.8% of total GPU time)\n", "\n9,975 more lines (", "\n9,988 more causes (99.9% of idle time)\n",
		"\n9,980 more functions (99.8% of the time in calls)\n", "\n9,980 more graphs (99.8% of the time in graphs)\n")
}
