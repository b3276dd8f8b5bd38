package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// TestStragglerWithItsMachine: a rank is late, and a dump of the machine says that heat slows its GPU. If two ranks
// have a GPU of this number, it is not known whose the dump is, unless it is in the folder of the rank.
func TestStragglerWithItsMachine(t *testing.T) {
	i := slices.IndexFunc(labelledRuns(), func(l labelled) bool { return l.label == rule.StragglingRank })
	late := func(s *summary.Summary) (finding.Finding, string) {
		for _, f := range Judge(s, rule.DefaultThresholds()).Findings {
			if f.Rule == rule.StragglingRank {
				return f, f.Cause + "\n" + strings.Join(f.Evidence, "\n")
			}
		}
		t.Fatal("no straggler")
		return finding.Finding{}, ""
	}
	run := func(device func(rank int) int64, dump string) *summary.Summary {
		s := summary.Merge(labelledRuns()[i].in(t))
		for k := range s.Inputs {
			s.Inputs[k].Path = fmt.Sprintf("/job/host-%d/rank%d.json", k, s.Inputs[k].Rank)
		}
		for k := range s.Devices {
			s.Devices[k].Device = device(s.Devices[k].Rank)
		}
		for k := range s.Ranks {
			s.Ranks[k].Device = device(s.Ranks[k].Rank)
		}
		f, _ := late(s)
		number := device(f.Where[0].Rank)
		input := len(s.Inputs)
		path := dump
		if dump == "" {
			path = fmt.Sprintf("/job/host-%d/smi.txt", f.Where[0].Input)
		}
		s.Inputs = append(s.Inputs, summary.Input{Path: path, Format: "log", Complete: true})
		for property, value := range map[string]string{"gpu.index": fmt.Sprint(number), "gpu.clock": "1200 MHz", "gpu.clock_max": "1980 MHz", "gpu.util": "88 %", "gpu.reason_hw_thermal": "Active"} {
			s.Health = append(s.Health, summary.Health{Input: input, Part: "GPU 00000000:3B:00.0", Property: property, Value: value, Times: 1})
		}
		return s
	}
	const says = "thermal slowdown active"
	own := func(rank int) int64 { return int64(rank) }
	zero := func(int) int64 { return 0 }
	if f, all := late(run(own, "/job/smi.txt")); !strings.Contains(f.Cause, says) {
		t.Errorf("each rank with its own GPU: %s", all)
	}
	if f, all := late(run(zero, "")); !strings.Contains(f.Cause, says) {
		t.Errorf("a dump in the folder of the rank: %s", all)
	}
	if _, all := late(run(zero, "/job/smi.txt")); strings.Contains(all, says) {
		t.Errorf("a dump of an unknown rank: %s", all)
	}
}
