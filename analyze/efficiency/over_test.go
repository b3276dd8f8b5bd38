package efficiency_test

import (
	"fmt"
	"testing"

	"assay/analyze/efficiency/hardware"
	"assay/summary"
)

// copy adds a copy of some bytes with its launch.
func (s *script) copy(name string, launch, start, dur int, bytes int64) {
	s.id++
	s.host("cuda_runtime", "cudaMemcpyAsync", launch, 1, fmt.Sprintf(`"correlation":%d`, s.id))
	s.event("gpu_memcpy", name, start, dur, `0,"tid":7`, fmt.Sprintf(`"device":0,"stream":7,"correlation":%d,"bytes":%d`, s.id, bytes))
}

func issues(s *summary.Summary) (n int64) {
	for _, is := range s.Issues {
		if is.Code == "over-peak" && is.Severity == "info" {
			n += is.Count
		}
	}
	return n
}

// TestOverPeak: a product of 137 GFLOP in 10 µs is 13.9 times what an H100 can do, so the row
// has no roofline, the GPU no MFU, and both are one issue. Neither are 10 MB over PCIe in
// 10 µs; the same within the memory come from the cache.
func TestOverPeak(t *testing.T) {
	s := new(script)
	s.mm(10, 100, 10)
	got := s.measure(t, hardware.ModelFLOPs{})
	r, d := &got.Efficiency.Rows[0], &got.Efficiency.Devices[0]
	if r.Over != summary.OverCompute || r.RooflineNS != nil || r.Bound != "" || r.FLOPs == nil || *r.FLOPs != product {
		t.Errorf("the row is %+v", *r)
	}
	if d.MFU != nil || d.HFU != nil || d.MFUFrom != summary.MFUOver || d.RooflineNS != 0 || d.RecoverableNS != 0 {
		t.Errorf("the sums are %+v", d.EfficiencySums)
	}
	if n := issues(got); n != 2 {
		t.Errorf("over-peak is said %d times, want of the row and of the GPU", n)
	}

	s = new(script)
	s.copy("Memcpy HtoD (Pinned -> Device)", 10, 100, 10, 10_000_000)
	s.copy("Memcpy DtoD (Device -> Device)", 20, 200, 5, 10_000_000)
	s.copy("Memcpy DtoH (Device -> Pinned)", 30, 300, 1000, 10_000_000)
	got = s.measure(t, hardware.ModelFLOPs{})
	over := map[string]string{}
	for _, tr := range got.Efficiency.Transfers {
		over[tr.Name[:11]] = tr.Over
		if want := map[string]float64{"Memcpy HtoD": 1000, "Memcpy DtoD": 2000, "Memcpy DtoH": 10}[tr.Name[:11]]; !near(tr.AlgGBPS, want) {
			t.Errorf("%s: %v GB/s, want %v", tr.Name, *tr.AlgGBPS, want)
		}
	}
	if len(over) != 3 || over["Memcpy HtoD"] != summary.OverLink || over["Memcpy DtoD"] != summary.OverCached || over["Memcpy DtoH"] != "" {
		t.Errorf("over: %v", over)
	}
	if n := issues(got); n != 1 {
		t.Errorf("over-peak is said %d times, want of the copy from the host", n)
	}

	// FLOPs of the user over the peak leave HFU as it is.
	s = two()
	got = s.measure(t, hardware.ModelFLOPs{PerStep: 1e16, Type: hardware.BF16})
	if st := &got.Efficiency.Steps[0]; st.MFU != nil || st.HFU == nil || st.MFUFrom != summary.MFUOver || issues(got) != 3 {
		t.Errorf("%+v, %d issues", *st, issues(got))
	}
	if n := issues(two().measure(t, hardware.ModelFLOPs{})); n != 0 {
		t.Errorf("over-peak is said %d times of a run below the peaks", n)
	}
}
