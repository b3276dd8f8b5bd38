package judge

import (
	"fmt"
	"slices"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
)

// A madeRun is one capture of a folder: its rank, what fills its window in tenths, and its kernels in tenths of the
// GPU time by name.
type madeRun struct {
	rank, world        int
	idle, copied, comm int64
	kernels            map[string]int64
	ops                map[string]int64
}

// folder returns the captures as one summary, each in a file of its own.
func folder(runs ...madeRun) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema}
	for i, r := range runs {
		s.Inputs = append(s.Inputs, summary.Input{Path: fmt.Sprintf("captures/%c.json", 'a'+i), Format: "kineto", Rank: r.rank, WorldSize: r.world})
		d := device(r.rank, 0, map[summary.Class]int64{0: 100 * r.idle, copies: 100 * r.copied, comm: 100 * r.comm, comp: 100 * (10 - r.idle - r.copied - r.comm)})
		d.Input = i
		s.Devices = append(s.Devices, d)
		for name, n := range r.kernels {
			s.Kernels = append(s.Kernels, summary.Kernel{Name: name, Class: "compute", Category: "gemm", Input: i, Rank: r.rank, Count: 10 * n, TotalNS: 10 * n * ms, MaxNS: ms})
		}
		if r.comm > 0 {
			s.Kernels = append(s.Kernels, summary.Kernel{Name: "ncclDevKernel_AllReduce", Class: "comm", Input: i, Rank: r.rank, Count: 10, TotalNS: 100 * r.comm * ms})
		}
		for name, n := range r.ops {
			s.Ops = append(s.Ops, summary.Op{Name: name, Input: i, Rank: r.rank, Count: 10 * n, GPUSelfNS: 10 * n * ms, Launched: 10 * n})
		}
	}
	s.Sort()
	return s
}

// The programs of the runs: two models that have nothing in common, one of them also on another GPU.
var (
	vision    = map[string]int64{"conv_winograd": 6, "batch_norm": 3, "relu": 1}
	language  = map[string]int64{"gemm_128x256": 5, "flash_fwd": 4, "rms_norm": 1}
	elsewhere = map[string]int64{"Cijk_gemm": 5, "ck_fmha": 4, "rms_norm_ck": 1}
	attends   = map[string]int64{"aten::mm": 5, "aten::sdpa": 4, "aten::rms_norm": 1}
)

// labelledPrograms are folders with captures of several programs, and of one.
func labelledPrograms() []labelled {
	run := func(name, label, near string, runs ...madeRun) labelled {
		return labelled{name: name, label: label, near: near, in: func(*testing.T) *summary.Summary { return folder(runs...) }}
	}
	return []labelled{
		run("two models of one GPU each", rule.RunsDiffer, "", madeRun{kernels: vision}, madeRun{kernels: language}),
		run("one program, copy-bound in one run", rule.RunsDiffer, "", madeRun{kernels: language, copied: 6}, madeRun{kernels: language}),
		run("files named as ranks, of two models", rule.RunsDiffer, rule.ComputeBound, madeRun{kernels: vision}, madeRun{rank: 1, kernels: language}),
		run("one program twice", rule.ComputeBound, rule.RunsDiffer, madeRun{kernels: language}, madeRun{kernels: language}),
		run("one program on two makers' GPUs", rule.ComputeBound, rule.RunsDiffer,
			madeRun{kernels: language, ops: attends}, madeRun{kernels: elsewhere, ops: attends}),
		run("stages of a pipeline with other kernels", rule.ExposedComm, rule.RunsDiffer,
			madeRun{kernels: vision, comm: 3}, madeRun{rank: 1, kernels: language, comm: 3}),
		run("ranks of one job with other kernels", rule.ComputeBound, rule.RunsDiffer,
			madeRun{world: 2, kernels: vision}, madeRun{rank: 1, world: 2, kernels: language}),
	}
}

// TestVerdictOfEachRun: captures that no verdict describes together have one each, and no finding adds them up.
func TestVerdictOfEachRun(t *testing.T) {
	s := folder(madeRun{kernels: vision, idle: 9}, madeRun{kernels: language}, madeRun{kernels: language, copied: 5})
	r := Judge(s, rule.DefaultThresholds())
	if r.Verdict.Bound != finding.BoundUnknown || r.Verdict.Rule != rule.RunsDiffer || r.Unusable() == nil || len(r.Findings) != 1 {
		t.Fatalf("verdict %+v, %d findings", r.Verdict, len(r.Findings))
	}
	var got []string
	for _, run := range r.Runs {
		got = append(got, fmt.Sprint(run.Inputs, run.Verdict.Bound))
	}
	if want := []string{"[0]host", "[1]compute", "[2]copies"}; !slices.Equal(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
	// The user knows better.
	for i := range s.Inputs {
		s.Inputs[i].Run, s.Inputs[i].RunFrom = "all", string(view.ByNone)
	}
	if r := Judge(s, rule.DefaultThresholds()); r.Verdict.Rule == rule.RunsDiffer || r.Runs != nil {
		t.Errorf("one run by --group-by none: %+v", r.Verdict)
	}
}
