package compare_test

import (
	"fmt"

	"assay/compare"
	"assay/summary"
)

func Example() {
	step := func(compute, idle, kernel int64) *summary.Summary {
		a := summary.Activity{summary.ClassCompute: compute, 0: idle}
		return &summary.Summary{
			Schema:  summary.Schema,
			Inputs:  []summary.Input{{Path: "trace.json.gz", Format: "kineto"}},
			Devices: []summary.Device{{WindowNS: a.Window(), Activity: a}},
			Steps:   []summary.Step{{Name: "ProfilerStep#1", Number: 1, WallNS: a.Window(), Activity: a}},
			Kernels: []summary.Kernel{{Name: "gemm", Class: "compute", Category: "gemm", Count: 10, TotalNS: kernel}},
		}
	}
	c, err := compare.Summaries(step(800_000, 200_000, 800_000), step(900_000, 150_000, 900_000), compare.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Headline)
	for _, r := range c.Budget.Rows {
		fmt.Println(r.Name, compare.Signed(r.DeltaNS))
	}
	// Output:
	// step 1.000 → 1.050 ms (+0.050 ms): compute +0.100 ms, mainly "gemm" (gemm): mean 90 µs, was 80 µs (+0.100 ms); but idle -0.050 ms, mainly unattributed (-0.050 ms)
	// compute +100 µs
	// exposed communication 0 ns
	// exposed copies 0 ns
	// idle -50 µs
}
