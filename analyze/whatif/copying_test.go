package whatif

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"assay/analyze/critical/change"
	"assay/internal/test/captures"
	"assay/summary"
)

// TestPinning: copies of pageable memory take their bytes at 85% of the link's peak with pinned memory, small ones
// as long as before, and nothing is known without sizes or of an unknown GPU. Pinned copies are no reason.
func TestPinning(t *testing.T) {
	for _, tc := range []struct {
		name, gpu, memory string
		us, bytes         int // of each of two copies
		want              float64
		why               string
	}{
		{"PCIe 4", "NVIDIA A100-SXM4-80GB", "Pageable", 10000, 60e6, 60e6 / (.85 * 31.5e9) / 10e-3, ""},
		{"PCIe 3", "Tesla T4", "Pageable", 10000, 60e6, 60e6 / (.85 * 15.8e9) / 10e-3, ""},
		{"faster than that", "Tesla T4", "Pageable", 4000, 60e6, 1, ""},
		{"small", "Tesla T4", "Pageable", 4, 64, 1, ""},
		{"pinned", "Tesla T4", "Pinned", 10000, 60e6, 0, ""},
		{"no sizes", "Tesla T4", "Pageable", 10000, -1, 0, "no sizes of the copies"},
		{"unknown GPU", "Some GPU", "Pageable", 10000, 60e6, 0, "the link of the GPU is unknown"},
	} {
		args := `"device":0,"stream":7`
		if tc.bytes >= 0 {
			args += fmt.Sprintf(`,"bytes":%d`, tc.bytes)
		}
		var events []string
		for i := range 2 {
			events = append(events, event("gpu_memcpy", "Memcpy HtoD ("+tc.memory+" -> Device)", 0, 7, 20000*i, tc.us, args))
		}
		tr := read(t, events...)
		tr.Meta.Devices = map[int64]string{0: tc.gpu}
		got := copying([]Input{{Trace: tr}})
		if math.Abs(got.Factor-tc.want) > 1e-9 || (got.Unknown == "") != (tc.why == "") || !strings.Contains(got.Unknown, tc.why) {
			t.Errorf("%s: %+v, want %g %q", tc.name, got, tc.want, tc.why)
		}
	}
}

// TestPinnedOnH200: 8.4 of 53 GB/s were measured when the same batches came from pinned memory, and the step took
// 31.8 ms. Where the sizes are lost the proposal is withheld.
func TestPinnedOnH200(t *testing.T) {
	tr := captures.Load(t, filepath.Join("..", "..", "testdata", "h200", "pairs", "pinned", "before.json.gz")).Trace
	for _, lost := range []bool{false, true} {
		if lost {
			tr.Meta.Devices = map[int64]string{0: "Some GPU"}
		}
		a, err := Of([]Input{{Trace: tr}}, Question{Sweep: true})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, g := range a.Sweep {
			if !strings.HasPrefix(g.Change, "--pinned") {
				continue
			}
			found = true
			if lost != (g.Verdict == summary.Withheld) || !lost && math.Abs(float64(*g.ForecastNS)/4/31.8e6-1) > .03 {
				t.Errorf("names lost %t: %+v", lost, g)
			}
		}
		if !found {
			t.Errorf("names lost %t: no forecast", lost)
		}
	}
}

// TestCopiesAtTheLink: copies at more than half of the peak of their link for more than half of their time cannot be
// twice as fast, so a sweep withholds what that would give: of their name, and of all copies.
func TestCopiesAtTheLink(t *testing.T) {
	const class, one = "--scale class:copy=0.5", `--scale kernel~^Memcpy DtoH \(Device -> Pinned\)$=0.5`
	for _, tc := range []struct {
		name     string
		gpu      string
		us       int  // of copies of 50 MB
		slow     int  // µs of a slow copy of the other direction
		one, all bool // withheld
	}{
		{"83% of PCIe 4", "NVIDIA A100-SXM4-80GB", 1900, 10, true, true},
		{"40%", "NVIDIA A100-SXM4-80GB", 4000, 10, false, false},
		{"among slower ones", "NVIDIA A100-SXM4-80GB", 1900, 90000, true, false},
		{"of an unknown link", "Some GPU", 1900, 10, false, false},
	} {
		events := []string{event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, 1, tc.slow, `"device":0,"stream":7,"bytes":50`)}
		for i := range 3 {
			at := tc.slow + 10000*i
			events = append(events,
				event("cuda_runtime", "cudaMemcpyAsync", 9, 9, at, 4, fmt.Sprintf(`"correlation":%d`, i+1)),
				event("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 0, 7, at+9, tc.us, fmt.Sprintf(`"device":0,"stream":7,"bytes":50000000,"correlation":%d`, i+1)))
		}
		tr := read(t, events...)
		tr.Meta.Devices = map[int64]string{0: tc.gpu}
		a, err := Of([]Input{{Trace: tr}}, Question{Sweep: true})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, g := range a.Sweep {
			withheld := strings.Contains(strings.Join(g.Reasons, ";"), "peak of their link")
			for change, want := range map[string]bool{one: tc.one, class: tc.all} {
				if g.Change == change {
					found++
					if withheld != want || withheld && g.ForecastNS != nil {
						t.Errorf("%s: %s: withheld %t, want %t: %q", tc.name, change, withheld, want, g.Reasons)
					}
				}
			}
		}
		if found != 2 {
			t.Errorf("%s: %d of 2 changes in %+v", tc.name, found, a.Sweep)
		}
	}
}

// TestBounds: the forecast of a bound is never plainly ok, in whatever list it is; that of any other change can be.
func TestBounds(t *testing.T) {
	tr := captures.Load(t, filepath.Join("..", "..", "testdata", "h200", "gemm_bound", "trace.json.gz")).Trace
	for value, bound := range map[string]bool{"class:compute=0": true, "class:compute=0.5": false} {
		a, err := Of([]Input{{Trace: tr}}, Question{Changes: []change.Change{{Kind: "scale", Value: value}}})
		if err != nil || len(a.Forecasts) == 0 {
			t.Fatal(err)
		}
		for _, f := range a.Forecasts {
			if f.Bound != bound || bound && f.Verdict == "ok" || !bound && f.Verdict != "ok" {
				t.Errorf("%s: bound %t, %s %q", value, f.Bound, f.Verdict, f.Reasons)
			}
		}
	}
	_, list, _ := Typical([]Ready{{Input{Trace: tr}, GraphOf(tr, 0, Question{})}}, &summary.Summary{})
	for _, f := range list {
		if f.Bound && f.Verdict == "ok" {
			t.Errorf("%s is a bound and ok", f.Change)
		}
	}
}
