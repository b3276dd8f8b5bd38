package samplerun

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"assay/judge"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// Classes of work, and units of time in nanoseconds.
const (
	Comm   = summary.ClassComm
	Comp   = summary.ClassCompute
	Copies = summary.ClassCopy
	US     = int64(1_000)
	MS     = 1_000 * US
	Sec    = 1_000 * MS
)

// Cells returns an activity of cells given in milliseconds.
func Cells(in map[summary.Class]int64) (a summary.Activity) {
	for class, n := range in {
		a[class] = n * MS
	}
	return a
}

// Train is a training run on 8 GPUs with 4 steps. Of rank r, in ms:
//
//	compute alone 500, with communication 100, so compute is 600
//	communication alone 200+10r
//	copies alone 20
//	idle 180-10r, so the window is 1000
//
// Over the ranks: compute 4800, exposed communication 1600+280 = 1880, exposed
// copies 160, idle 1440-280 = 1160, window 8000, hidden communication 800 of
// 2680. Kernels of rank r: gemm 400, attention 150, one that no rule knows 30,
// elementwise 20, all-reduce 300+10r; that is 3200, 1200, 240, 160 and 2680 of
// 7480.
func Train() *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema, Issues: []summary.Issue{{
		Code: "events-not-closed", Severity: "data-loss", Count: 3, First: "run-7.json@1042",
		Help: "the profiler was probably killed; the last events are missing",
	}}}
	for r := range int64(8) {
		s.Inputs = append(s.Inputs, summary.Input{
			Path: fmt.Sprintf("traces/run-%d.json.gz", r), Format: "kineto", Compression: "gzip",
			Bytes: 1 << 20, Events: 1000, SHA256: strings.Repeat(fmt.Sprintf("%02x", 0xab+r), 32), Rank: int(r), RankFrom: "trace", Complete: r != 7,
		})
		d := summary.Device{
			Input: int(r), Rank: int(r), Device: r, Name: "NVIDIA H100 80GB HBM3", StartNS: 5 * Sec, WindowNS: Sec, Events: 530,
			Activity: Cells(map[summary.Class]int64{Comp: 500, Comp | Comm: 100, Comm: 200 + 10*r, Copies: 20, 0: 180 - 10*r}),
			Strip: &summary.Strip{BinNS: 10 * MS, NS: map[string][]int64{
				"compute": strip(100, 0, 60), "comm": strip(100, 50, 80), "copy": strip(100, 80, 82),
			}},
		}
		for range 100 {
			d.Durations.Add(4 * MS)
			d.Gaps.Add((180 - 10*r) * MS / 100)
		}
		s.Devices = append(s.Devices, d)
		for i := range int64(4) {
			s.Steps = append(s.Steps, summary.Step{
				Input: int(r), Rank: int(r), Device: r, Name: fmt.Sprintf("ProfilerStep#%d", 10+i), Number: 10 + i,
				StartNS: 5*Sec + i*250*MS, WallNS: 250*MS + i*MS,
				Activity: Cells(map[summary.Class]int64{Comp: 125, Comp | Comm: 25, Comm: 50, Copies: 5, 0: 45 + i}),
			})
		}
		row := func(name, class, category string, stream, count, total int64) {
			s.Kernels = append(s.Kernels, summary.Kernel{
				Name: name, Class: class, Category: category, Rule: category, Input: int(r), Rank: int(r), Device: r, Stream: stream,
				Op: "aten::mm", Count: count, TotalNS: total * MS, MinNS: total * MS / count / 2, MaxNS: total * MS / count * 2,
			})
		}
		row("ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn", "compute", "gemm", 7, 100, 400)
		row("flash_fwd_kernel", "compute", "attention", 7, 50, 150)
		row("mystery_kernel", "compute", "other", 7, 3, 30)
		row("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
			"compute", "elementwise", 7, 200, 20)
		row("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "comm", "all-reduce", 20, 10, 300+10*r)
		bytes := int64(1 << 30)
		s.Copies = append(s.Copies, summary.Copy{
			Name: "Memcpy HtoD (Pinned -> Device)", Class: "copy", Input: int(r), Rank: int(r), Device: r, Stream: 9, Count: 4,
			TotalNS: 20 * MS, MinNS: 4 * MS, MaxNS: 6 * MS, Bytes: &bytes,
		})
		s.Streams = append(s.Streams,
			summary.Stream{Input: int(r), Rank: int(r), Device: r, Stream: 7, Kernels: 353, BusyNS: 600 * MS, WorkNS: 600 * MS},
			summary.Stream{Input: int(r), Rank: int(r), Device: r, Stream: 9, Others: 4, BusyNS: 20 * MS, WorkNS: 20 * MS},
			summary.Stream{Input: int(r), Rank: int(r), Device: r, Stream: 20, Kernels: 10, BusyNS: (300 + 10*r) * MS, WorkNS: (300 + 10*r) * MS})
	}
	s.Sort()
	return s
}

// strip returns n bins of 10 ms, of which those from from up to to are full.
func strip(n, from, to int) []int64 {
	bins := make([]int64, n)
	for i := from; i < to; i++ {
		bins[i] = 10 * MS
	}
	return bins
}

// Host is a capture without GPU events: self times 60, 30 and 10 ms, the
// first of them on two threads, with 40 and 20.
func Host() *summary.Summary {
	s := &summary.Summary{
		Schema: summary.Schema,
		Inputs: []summary.Input{{Path: "cpu.json", Format: "kineto", Compression: "none", Bytes: 1234, Events: 42, RankFrom: "assumed", Complete: true}},
		Issues: []summary.Issue{{Code: "no-gpu-events", Severity: "suspect", Count: 1, Help: "record with ProfilerActivity.CUDA"}},
	}
	for i, self := range []int64{40, 30, 10, 20} {
		s.Spans = append(s.Spans, summary.Span{
			Name: []string{"aten::mm", "DataLoader.__next__", "aten::copy_", "aten::mm"}[i], Category: "cpu_op", Process: "python", Thread: fmt.Sprint("thread ", i/3),
			Count: 10, TotalNS: 100 * MS, SelfNS: self * MS, MaxNS: 12 * MS,
		})
	}
	s.Sort()
	return s
}

// OneKernel is one kernel of the given length, which is the whole window.
func OneKernel(ns int64) *summary.Summary {
	s := &summary.Summary{
		Schema:  summary.Schema,
		Inputs:  []summary.Input{{Path: "one.json", Format: "chrome-trace", Compression: "none", Bytes: 100, Events: 1, RankFrom: "assumed", Complete: true}},
		Kernels: []summary.Kernel{{Name: "k", Class: "compute", Category: "other", Count: 1, TotalNS: ns, MinNS: ns, MaxNS: ns}},
		Streams: []summary.Stream{{Stream: 7, Kernels: 1, BusyNS: ns, WorkNS: ns}},
	}
	d := summary.Device{WindowNS: ns, Events: 1, Strip: &summary.Strip{BinNS: max(1, ns), NS: map[string][]int64{"compute": {ns}}}}
	d.Activity[Comp] = ns
	d.Durations.Add(ns)
	s.Devices = []summary.Device{d}
	return s
}

// HostileNames are names that mean something to terminals, to Markdown, to
// HTML or to pictures.
func HostileNames() []string {
	return []string{
		"a|b|c", "`tick`", "``", "a`|`b", `back\|slash`, `ends in \`, "new\nline\r\nand\ttab", "<script>alert(1)</script>", "</details>", "<!--",
		"[link](https://example.com)", "![img](x.png)", "https://example.com/a", "www.example.com", "@someone", "*bold* _em_ ~~del~~", "# heading",
		"- item", "1. item", "---", "> quote", "&lt;", "$x$", "\x1b[31mred\x1b[0m", "\u202egnp.exe", "zero\u200bwidth", "broken\xff\xfeutf8", "",
		" ", "矩阵乘法内核_前向传播_大型模型", "emoji 👩‍👩‍👧‍👦🇩🇪", "e\u0301\u0301\u0301\u0301", strings.Repeat("x", 2000), strings.Repeat("x", 1999) + "y",
		strings.Repeat("核", 700), "void f<" + strings.Repeat("g<", 300) + strings.Repeat(">", 300) + ">(int)",
	}
}

// Hostile puts the names everywhere that a name can be.
func Hostile() (*summary.Summary, judge.Result) {
	s := &summary.Summary{Schema: summary.Schema}
	for i, name := range HostileNames() {
		s.Inputs = append(s.Inputs, summary.Input{Path: name, Format: name, Compression: name, RankFrom: name, Rank: i / 2})
		s.Issues = append(s.Issues, summary.Issue{Code: name, Severity: name, Count: 1, First: name, Help: name})
		ns := int64(1+i) * MS // the worst names are the largest
		d := summary.Device{Input: i, Rank: i / 2, Name: name, WindowNS: 2 * ns, Activity: summary.Activity{0: ns, Comp: ns}}
		d.Strip = &summary.Strip{BinNS: ns, NS: map[string][]int64{"compute": {ns, 0}}}
		s.Devices = append(s.Devices, d)
		s.Streams = append(s.Streams, summary.Stream{Input: i, Rank: i / 2, Stream: int64(i), Name: name, Kernels: 1, BusyNS: ns, WorkNS: ns})
		s.Kernels = append(s.Kernels, summary.Kernel{Name: name, Class: "compute", Category: "other", Op: name, Input: i, Rank: i / 2, Stream: int64(i), Count: 1, TotalNS: ns, MinNS: ns, MaxNS: ns})
		s.Copies = append(s.Copies, summary.Copy{Name: name, Class: name, Input: i, Rank: i / 2, Count: 1, TotalNS: ns, MinNS: ns, MaxNS: ns})
		s.Steps = append(s.Steps, summary.Step{Input: i, Rank: i / 2, Name: name, Number: int64(i), StartNS: 0, WallNS: 2 * ns, Activity: d.Activity})
		s.Spans = append(s.Spans, summary.Span{Name: name, Category: name, Input: i, Process: name, Thread: name, Count: 1, TotalNS: ns, SelfNS: ns, MaxNS: ns})
	}
	s.Sort()
	r := judge.Result{Verdict: finding.Verdict{Bound: finding.Bound(HostileNames()[0]), Sentence: strings.Join(HostileNames(), " ")}}
	for _, name := range HostileNames() {
		r.Findings = append(r.Findings, finding.Finding{Rule: name, Title: name, Evidence: []string{name}, Next: []finding.Step{{ID: "follow-the-issue", Args: map[string]string{"issue_help": name}}}})
	}
	return s, r
}

// ManyDevices is n devices with windows from nothing to hours.
func ManyDevices(n int) *summary.Summary {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	s := &summary.Summary{Schema: summary.Schema}
	for i := range n {
		s.Inputs = append(s.Inputs, summary.Input{Path: fmt.Sprintf("rank%d.json", i), Rank: i, RankFrom: "name", Complete: true})
		d := summary.Device{Input: i, Rank: i, Device: int64(i % 8), Name: "AMD Instinct MI300X"}
		for range rnd.IntN(6) {
			d.Activity[rnd.IntN(16)] += rnd.Int64N(1 << (1 + rnd.IntN(45)))
		}
		d.WindowNS = d.Activity.Window()
		d.Strip = &summary.Strip{BinNS: d.WindowNS/7 + 1, NS: map[string][]int64{"compute": make([]int64, 7), "comm": make([]int64, 7)}}
		for j := range 7 {
			d.Strip.NS["compute"][j] = rnd.Int64N(d.Strip.BinNS)
		}
		d.Gaps.Add(rnd.Int64N(1 << (1 + rnd.IntN(45))))
		d.Durations.Add(rnd.Int64N(1 << (1 + rnd.IntN(45))))
		s.Devices = append(s.Devices, d)
		for j := range int64(3) {
			st := summary.Step{Input: i, Rank: i, Device: d.Device, Name: "a step without number", Number: j, StartNS: j * d.WindowNS / 3}
			st.Activity[Comp] = rnd.Int64N(1 << (1 + rnd.IntN(45)))
			st.WallNS = st.Activity.Window()
			s.Steps = append(s.Steps, st)
		}
		s.Kernels = append(s.Kernels, summary.Kernel{
			Name: fmt.Sprintf("kernel_%d", i), Class: []string{"compute", "comm"}[i%2], Category: "gemm", Input: i, Rank: i, Device: d.Device,
			Count: 1, TotalNS: d.Activity.Busy(), MinNS: d.Activity.Busy(), MaxNS: d.Activity.Busy(),
		})
	}
	s.Sort()
	return s
}

// ManyKernels is one device with n kernels and n steps.
func ManyKernels(n int) *summary.Summary {
	s := OneKernel(int64(n) * MS)
	s.Kernels = nil
	for i := range n {
		s.Kernels = append(s.Kernels, summary.Kernel{
			Name: fmt.Sprintf("kernel_%d_of_a_long_family_of_names_that_differ_in_the_middle<%d>", i, i), Class: "compute", Category: "other",
			Count: 1, TotalNS: MS, MinNS: MS, MaxNS: MS,
		})
		s.Steps = append(s.Steps, summary.Step{
			Name: fmt.Sprintf("ProfilerStep#%d", i), Number: int64(i), StartNS: int64(i) * MS, WallNS: MS, Activity: summary.Activity{Comp: MS},
		})
	}
	s.Sort()
	return s
}

// hostileDevices is hostileRun without its judgment.
func hostileDevices() *summary.Summary {
	s, _ := Hostile()
	return s
}

// All are all of them, by name.
func All() map[string]*summary.Summary {
	hostile, _ := Hostile()
	hostileHost, _ := Hostile()
	hostileHost.Devices = nil
	return map[string]*summary.Summary{
		"train": Train(), "host": Host(), "one": OneKernel(5 * MS), "nanosecond": OneKernel(1), "instant": OneKernel(0),
		"hours": OneKernel(36_000 * Sec), "equal": ManyKernels(3), "kernels": ManyKernels(300), "hostile": hostile, "hostile host": hostileHost,
		"devices 2": ManyDevices(2), "devices 16": ManyDevices(16), "devices 64": ManyDevices(64), "empty": {Schema: summary.Schema},
		"attributed": Attributed(1), "attributed 8": Attributed(8), "attributed 20": Attributed(20), "modules": ModulesOnly(),
		"reasons 1": ManyReasons(1), "reasons 40": ManyReasons(40), "hostile attribution": strange(hostileDevices()),
		"tables": Tables(), "hostile tables": StrangeTables(), "profile": Profile(), "hostile profile": StrangeFlames(),
		"memory": Memory(), "hostile memory": HostileMemory(), "memory timeline": MemoryTimeline(),
		"phases": Phases(), "hostile phases": StrangePhases(),
		"ranks 2": Ranks(2), "ranks 64": Ranks(64), "log": Logged(), "hostile log": StrangeLog(),
		"server": Served(), "monitor 2": Monitored(2), "monitor 16": Monitored(16), "benchmark 1": Benchmarked(1), "benchmark 5": Benchmarked(5), "hostile server": StrangeServer(),
		"layers": Layered(1), "layers 4": Layered(4),
		"efficiency": Efficient(), "efficiency 8": EfficientRanks(8), "hostile efficiency": StrangeEfficiency(),
	}
}

// Judged returns the judgment of a fixture.
func Judged(s *summary.Summary) judge.Result { return judge.Judge(s, rule.DefaultThresholds()) }

// Twins are n captures of rank 0 device 0, each in its own directory, idle
// for 10, 20, 30, ... of 1000 ms.
func Twins(n int) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema}
	for i := range n {
		s.Inputs = append(s.Inputs, summary.Input{
			Path: fmt.Sprintf("/data/captures/run-%d/a-rather-long-name-of-a-trace-rank0.json.gz", i), RankFrom: "trace", Complete: true,
		})
		idle := int64(10 * (i + 1))
		d := summary.Device{Input: i, WindowNS: Sec, Activity: Cells(map[summary.Class]int64{Comp: 1000 - idle, 0: idle}), Events: 100}
		d.Strip = &summary.Strip{BinNS: Sec, NS: map[string][]int64{"compute": {Sec / 2}}}
		s.Devices = append(s.Devices, d)
		s.Streams = append(s.Streams, summary.Stream{Input: i, Stream: 7, Kernels: 1, BusyNS: Sec, WorkNS: Sec})
	}
	s.Issues = []summary.Issue{{Code: "orphan", Severity: "suspect", Count: 2, First: s.Inputs[0].Path + "@81920: traceEvents[7]"}}
	return s
}
