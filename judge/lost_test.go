package judge

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/internal/test"
	"assay/internal/test/tracegen"
	"assay/judge/rule"
)

// A leaving says which device events of a trace are lost.
type leaving struct {
	name string
	of   func(rnd *rand.Rand) func(category, name string, i int) bool
}

// leavings are losses by share, by kind and by name.
func leavings(names []string) (out []leaving) {
	for _, share := range []float64{0.01, 0.1, 0.5, 1} {
		for _, kinds := range [][]string{{"kernel"}, {"gpu_memcpy"}, {"gpu_memset"}, {"kernel", "gpu_memcpy", "gpu_memset"}} {
			out = append(out, leaving{fmt.Sprintf("%.0f%% of %v", 100*share, kinds), func(rnd *rand.Rand) func(string, string, int) bool {
				return func(category, _ string, _ int) bool { return slices.Contains(kinds, category) && rnd.Float64() < share }
			}})
		}
	}
	for _, lost := range names {
		out = append(out, leaving{"all " + lost, func(*rand.Rand) func(string, string, int) bool {
			return func(_, name string, _ int) bool { return name == lost }
		}})
	}
	return out
}

// TestVerdictOfLostRecords: whatever share, kind or name of the device records is
// lost, the verdict is that of the whole capture, or is withheld with a reason.
func TestVerdictOfLostRecords(t *testing.T) {
	judged, withheld := 0, 0
	stand, all := map[string]int{}, map[string]int{}
	for i, tr := range troubles() {
		if i%test.Every(4) != 0 {
			continue
		}
		if slices.ContainsFunc(tr.Ranks, func(s tracegen.Story) bool { return s.Damaged }) {
			continue
		}
		whole := Judge(traced(t, tr.Ranks), rule.DefaultThresholds())
		if whole.Verdict.Bound == "unknown" {
			continue
		}
		names := deviceNames(tr.Ranks)
		if slices.ContainsFunc(tr.Ranks, func(s tracegen.Story) bool { return bytes.Contains(s.JSON, []byte("GraphLaunch")) }) {
			names = nil // one node of every launch of a graph: no call tells that it is missing
		}
		if i%3 > 0 {
			names = names[:min(1, len(names))] // of most runs one name is enough
		}
		var records []*tracegen.Records
		for _, s := range tr.Ranks {
			records = append(records, tracegen.Split(s.JSON))
		}
		for _, l := range leavings(names) {
			drop := l.of(rand.New(rand.NewPCG(7, uint64(len(tr.Name)))))
			ranks, lost := slices.Clone(tr.Ranks), 0
			for i := range ranks {
				var n int
				ranks[i].JSON, n = records[i].Rewrite(func(category, name string, i int) tracegen.Edit {
					device := category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset"
					return tracegen.Edit{Drop: device && drop(category, name, i)}
				})
				lost += n
			}
			if lost == 0 {
				continue
			}
			s := traced(t, ranks)
			v := Judge(s, rule.DefaultThresholds()).Verdict
			if all[l.name]++; v.Abstained == nil {
				stand[l.name]++
			}
			switch {
			case v.Bound == "unknown" && v.Abstained != nil && v.Abstained.Code != "" && v.Abstained.Reason != "":
				withheld++
			case v.Bound == whole.Verdict.Bound && v.Abstained == nil:
				judged++
			default:
				t.Errorf("%s without %s (%d records): %+v, the whole is %+v\n%+v", tr.Name, l.name, lost, v, whole.Verdict, s.LaunchLosses)
			}
		}
	}
	t.Logf("%d verdicts stand, %d are withheld", judged, withheld)
	for _, l := range leavings(nil) {
		t.Logf("%s: %d of %d stand", l.name, stand[l.name], all[l.name])
	}
	if least := 100 / test.Every(4); judged < least || withheld < least {
		t.Errorf("%d verdicts stand and %d are withheld, want %d of each at least", judged, withheld, least)
	}
}

// deviceNames returns the names of all device events of some ranks.
func deviceNames(ranks []tracegen.Story) (out []string) {
	for _, s := range ranks {
		tracegen.Rewrite(s.JSON, func(category, name string, _ int) tracegen.Edit {
			if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset") && !slices.Contains(out, name) {
				out = append(out, name)
			}
			return tracegen.Edit{}
		})
	}
	return out
}
