package whatif

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

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
		got := pinning([]Input{{Trace: tr}})
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
