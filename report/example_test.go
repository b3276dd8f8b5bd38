package report_test

import (
	"os"

	"assay/judge"
	"assay/judge/finding"
	"assay/report"
	"assay/summary"
)

func Example() {
	s := &summary.Summary{
		Schema: summary.Schema,
		Inputs: []summary.Input{{Path: "trace.json.gz", Format: "kineto", Bytes: 2048, Events: 3, Complete: true}},
		Devices: []summary.Device{{Name: "NVIDIA H100", WindowNS: 10_000_000, Activity: summary.Activity{
			0:                    6_000_000, // idle
			summary.ClassCompute: 3_000_000,
			summary.ClassComm:    1_000_000,
		}}},
		Kernels: []summary.Kernel{
			{Name: "void cutlass::gemm<bf16>(int)", Class: "compute", Category: "gemm", Count: 10, TotalNS: 3_000_000},
			{Name: "ncclDevKernel_AllReduce", Class: "comm", Category: "all-reduce", Count: 1, TotalNS: 1_000_000},
		},
	}
	r := judge.Result{Verdict: finding.Verdict{Bound: "host", Sentence: "GPU idle time is 60.0% of the window"}}
	if err := report.Build(s, r).Text(os.Stdout, 80); err != nil {
		panic(err)
	}
	// Output:
	// Verdict: host-bound
	//   GPU idle time is 60.0% of the window.
	//
	// Capture: trace.json.gz, Kineto, 2 KiB, 3 events, complete
	//   rank 0, 1 GPU (NVIDIA H100)
	//
	// GPU time breakdown: % of the window; comm and copies: exposed only
	//   GPU             window  █ compute  ▓ comm  ░ copies  · idle
	//   rank 0 GPU 0  10.00 ms      30.0%   10.0%      0.0%   60.0%  ████▓·········
	//
	// Top kernels by total kernel time (4 ms, all streams)
	//       %  launches  mean (ms)  category    kernel
	//   75.0%        10      0.300  gemm        gemm<bf16>
	//   25.0%         1      1.000  all-reduce  ncclDevKernel_AllReduce
}
