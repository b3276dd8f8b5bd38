package whatif_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/analyze/critical/change"
	"assay/analyze/whatif"
	"assay/internal/test/captures"
	"assay/trace"
)

// The limits of a forecast with the verdict ok, in percent: from the profiled step after the change, and from the step
// without a profiler if the time of the step before is given.
const (
	okProfiled, okMeasured = 5.0, 10.0
)

// pairs has the limits of the forecasts of measured pairs, in percent, and why they are not narrower.
var pairs = map[string]struct {
	profiled, measured float64
	why                string
}{
	"pinned":             {3, 3, ""},
	"fused":              {11, 5, "what launches the compiled kernel takes 100 µs, which only a profiler sees in full"},
	"graph_on":           {8, 35, "the launch of a graph of 341 kernels takes 160 µs when profiled, and gaps within it are shorter"},
	"host_twice_as_fast": {12, 10, "of a loop of 40 µs, 24 are gone: not quite half"},
	"smaller_kernels":    {22, 16, "steps before vary by 9%, and launches take longer when the GPU is idle"},
	"dropout_removed":    {8, 5, "the other kernels run 7% faster after the change: the clock of the GPU"},
	"copies_overlapped":  {15, 15, "the best case: copies and kernels share memory"},
}

// A pair is a program before and after a change, with the times of its steps without a profiler, in µs.
type pair struct {
	Name, Why     string
	Change        []string
	Before, After []float64
}

func (p *pair) UnmarshalJSON(text []byte) error {
	var x struct {
		Name, Why string
		Change    []string
		Before    []float64 `json:"before_us"`
		After     []float64 `json:"after_us"`
	}
	err := json.Unmarshal(text, &x)
	*p = pair{x.Name, x.Why, x.Change, x.Before, x.After}
	return err
}

func middle(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return (list[len(list)/2] + list[(len(list)-1)/2]) / 2
}

// kernelTime returns the mean time of the works whose name matches.
func kernelTime(t *trace.Trace, re *regexp.Regexp) float64 {
	sum, n := 0.0, 0.0
	for a := range t.Activities.All() {
		if re.MatchString(t.Name(a.Name)) {
			sum, n = sum+float64(a.Dur), n+1
		}
	}
	return sum / n
}

// changes returns the changes of a pair. {after:RE} stands for how much longer the works of that name take after it.
func (p *pair) changes(t *testing.T, before, after *trace.Trace) (out []change.Change) {
	for i := 0; i < len(p.Change); i++ {
		c := change.Change{Kind: strings.TrimPrefix(p.Change[i], "--")}
		if i+1 < len(p.Change) && !strings.HasPrefix(p.Change[i+1], "--") {
			i++
			c.Value = p.Change[i]
			if at := strings.Index(c.Value, "{after:"); at >= 0 {
				re := regexp.MustCompile(strings.TrimSuffix(c.Value[at+len("{after:"):], "}"))
				c.Value = fmt.Sprintf("%s%.5g", c.Value[:at], kernelTime(after, re)/kernelTime(before, re))
			}
		}
		if p.Name == "graph_on" {
			c.Value = change.WholeStep // the whole step is replayed
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// TestPairs compares forecasts with measurements on an H200: programs that were timed and profiled before and after a
// change, with and without records of what waits are for. The limits of each pair are in pairs; whatever they are, no
// forecast with the verdict ok may be far off, unless the clock of the GPU differs.
func TestPairs(t *testing.T) {
	folder := filepath.Join("..", "..", "testdata", "h200", "pairs")
	text, err := os.ReadFile(filepath.Join(folder, "pairs.json"))
	var all struct{ Pairs []pair }
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all.Pairs) < len(pairs) {
		t.Fatal(err, len(all.Pairs))
	}
	var table strings.Builder
	for _, p := range all.Pairs {
		after := captures.Load(t, filepath.Join(folder, p.Name, "after.json.gz")).Trace
		a, err := whatif.Of([]whatif.Input{{Trace: after}}, whatif.Question{})
		if err != nil {
			t.Fatal(err)
		}
		var steps []float64
		for _, x := range a.CriticalPaths {
			steps = append(steps, float64(x.WindowNS)/1000)
		}
		for _, file := range []string{"before", "before_sync"} {
			before := captures.Load(t, filepath.Join(folder, p.Name, file+".json.gz")).Trace
			list := p.changes(t, before, after)
			for _, given := range []int64{0, int64(1000 * middle(p.Before))} {
				truth, limit, ok := middle(steps), pairs[p.Name].profiled, okProfiled
				if given > 0 {
					truth, limit, ok = middle(p.After), pairs[p.Name].measured, okMeasured
				}
				a, err := whatif.Of([]whatif.Input{{Trace: before}}, whatif.Question{Changes: list, Given: given})
				if err != nil {
					t.Fatal(err)
				}
				var got []float64
				verdicts := map[string]int{}
				for _, f := range a.Forecasts {
					name := f.Verdict
					if f.Bound {
						name += ", at best"
					}
					verdicts[name]++
					if f.ForecastNS == nil {
						continue
					}
					us := float64(*f.ForecastNS) / 1000
					got = append(got, us)
					if name == "ok" && math.Abs(us/truth-1) > max(ok/100, limit/100) {
						t.Errorf("%s, %s: ok, but %.1f%% off", p.Name, file, 100*(us/truth-1))
					}
				}
				if len(got) == 0 {
					fmt.Fprintf(&table, "%-20s %-12s given %7.3f ms: withheld: %s\n", p.Name, file, float64(given)/1e6, a.Forecasts[0].Reasons)
					continue
				}
				off := 100 * (middle(got)/truth - 1)
				fmt.Fprintf(&table, "%-20s %-12s given %7.3f ms: forecast %7.3f, measured %7.3f (%+5.1f%%) %v\n", p.Name, file, float64(given)/1e6,
					middle(got)/1000, truth/1000, off, verdicts)
				if math.Abs(off) > limit {
					t.Errorf("%s, %s, given %d ns: %.3f ms, measured %.3f: %+.1f%%, limit %g%%", p.Name, file, given, middle(got)/1000, truth/1000, off, limit)
				}
			}
		}
	}
	t.Log("\n" + table.String())
}
