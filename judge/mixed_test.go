package judge

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/test/tracegen"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
)

// TestCapturesMixed: two captures of one process in one file, whose launches have the same numbers, cannot be
// separated if they overlap in time. If one follows the other, they can. late is by how much, in us, the
// second one is later than the first of about 5 ms.
func TestCapturesMixed(t *testing.T) {
	var b bytes.Buffer
	for _, p := range tracegen.Presets() {
		if p.Name == "host_bound" {
			if _, err := tracegen.Generate(&b, p.Make(), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name string
		late float64
		want bool
		why  string
	}{
		{"overlapping by half", 3_500, true, "cannot be separated"},
		{"overlapping by nearly all", 700, true, "cannot be separated"},
		{"one after the other", 50_000, false, "several captures, one after the other"},
		{"one long after the other", 2_000_000, false, "several captures, one after the other"},
	} {
		text := tracegen.Change(b.Bytes(), func(e map[string]any) []map[string]any {
			if e["ph"] != "X" {
				return []map[string]any{e}
			}
			return []map[string]any{e, shiftedBy(e, tc.late)}
		})
		tr, err := trace.Read(bytes.NewReader(text), "t.json", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		s := analyze.Trace(tr, summary.Input{Path: "t.json", Format: "kineto"}, analyze.DefaultOptions())
		mixed := false
		for _, is := range s.Issues {
			mixed = mixed || is.Code == summary.CapturesMixed
		}
		v := Judge(s, rule.DefaultThresholds()).Verdict
		if withheld := v.Abstained != nil && v.Abstained.Code == rule.Clocks; mixed != tc.want || !withheld || !strings.Contains(v.Sentence, tc.why) {
			t.Errorf("%s: mixed %v, verdict %q; want %v", tc.name, mixed, v.Sentence, tc.want)
		}
	}
}

// shiftedBy returns an event that starts later, in us.
func shiftedBy(e map[string]any, us float64) map[string]any {
	out := maps.Clone(e)
	at, _ := e["ts"].(json.Number).Float64()
	out["ts"] = json.Number(strconv.FormatFloat(at+us, 'f', 3, 64))
	return out
}
