package report

import (
	"io"
	"slices"
	"strings"
	"testing"

	"assay/internal/label"
	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/judge/rule"
	"assay/summary"
)

func buildCounted(s *summary.Summary) Report {
	return Build(s, judge.Judge(s, rule.DefaultThresholds()))
}

func TestCountedKernels(t *testing.T) {
	d := buildCounted(samplerun.Roofline(samplerun.Counted()))
	markdown := render(t, d.Markdown)
	got := tableOf(t, markdown, "Kernel counters: % of peak")
	want := [][]string{
		{"kernel", "%", "launches", "mean (µs)", "compute %", "memory %", "limited by", "DRAM rate", "achieved occupancy", "theoretical occupancy", "occupancy limiter", "FLOP/s", "shapes", "category"},
		{"`near`", "60.0%", "4", "150.00", "20.0%", "92.0%", "memory, near peak", "2 TB/s", "40.2%", "50.0%", "registers", "4 TFLOP/s fp32 (6.7% of its peak)", "3", "gemm"},
		{"`slow`", "30.0%", "4", "75.00", "20.0%", "10.0%", "latency", "", "", "", "", "8 TFLOP/s fp32 (13.3% of its peak)", "", "gemm"},
		{"`busy`", "8.0%", "4", "20.00", "70.0%", "20.0%", "compute", "", "", "", "", "", "", "gemm"},
		{"`bare`", "2.0%", "2", "10.00", "–", "–", "–", "", "", "", "", "", "", ""},
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	for _, part := range []string{"## Verdict: latency-bound", "**OPT** R (up to 12.5% global, 1 of 4 launches): Do it | so. Then not.",
		"14 launches of 4 kernels, compute capability 9.0, complete.", "![Roofline: ", "% of total kernel time of the profiled launches (1 ms)"} {
		if !strings.Contains(strings.ReplaceAll(markdown, `\|`, "|"), part) {
			t.Errorf("the report lacks %q:\n%s", part, markdown)
		}
	}
	if strings.Contains(markdown, "no GPU events") || strings.Contains(markdown, "GPU time breakdown:") {
		t.Errorf("the report asks counters for a timeline:\n%s", markdown)
	}
	screen := text(t, d, 80)
	if !strings.Contains(screen, "Kernel counters in % of peak (total kernel time 1 ms, profiled one by one)") || !strings.Contains(screen, " 60.0%    20.0%   92.0%      40.2%  memory, near peak  near\n") {
		t.Errorf("screen:\n%s", screen)
	}
	if json := render(t, d.JSON); !strings.Contains(json, `"sides": [`) || !strings.Contains(json, `"near_limit": true`) {
		t.Errorf("the JSON has no sides")
	}
}

// TestHostileCounters: names and texts of others are harmless everywhere.
func TestHostileCounters(t *testing.T) {
	s := samplerun.Roofline(samplerun.Counted())
	for i, name := range samplerun.HostileNames() {
		if i < len(s.Counters) {
			k := &s.Counters[i]
			k.Kernel, k.Category, k.Capability, k.Limiters = name, name, name, []string{name}
			k.Rules = []summary.Advice{{Name: name, Type: name, Text: strings.Repeat(name, 100), SpeedupKind: name, SpeedupPct: samplerun.PctOf(1)}}
			for j := range k.Work {
				k.Work[j].Precision = name
			}
		}
	}
	d := buildCounted(s)
	for _, write := range []func(io.Writer) error{d.Markdown, d.StepSummary, d.JSON, func(w io.Writer) error { return d.Text(w, 80) }} {
		for _, r := range render(t, write) {
			if r < ' ' && r != '\n' || r == 0x7f || r == 0x202e {
				t.Fatalf("%U is printed", r)
			}
		}
	}
	for _, c := range d.Charts() {
		if _, err := c.Paint(); err != nil {
			t.Error(err)
		}
	}
}

func TestNumbaNames(t *testing.T) {
	for name, want := range map[string]string{
		"copy_blocked[v1,cw51cXTLSUwv1sDUaKthrqNgqqmjgOR3W3C](Array<long long, 1, C, mutable, aligned>, long long)": "copy_blocked",
		"axpy[abi:v2](Array<float, 1>)": "axpy", "f[i]": "f[i]", "f[vector]": "f[vector]", "[v1]": "[v1]", "f[v1": "f[v1",
	} {
		if got := label.TidyKernel(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}
