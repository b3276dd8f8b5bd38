package judge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/ranks"
	"assay/analyze/ranks/collective"
	"assay/ingest"
	"assay/internal/stat"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

const ofH200 = "../testdata/h200"

// recordedOn returns the summary of the traces of one run.
func recordedOn(t *testing.T, files ...string) *summary.Summary {
	t.Helper()
	var list []*summary.Summary
	var members []ranks.Member
	for i, file := range files {
		f, err := ingest.Open(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		in, err := ingest.Load(f, analyze.Needs())
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		rank := 0
		if in.Trace.Meta.Rank != nil {
			rank = *in.Trace.Meta.Rank
		}
		opt := analyze.DefaultOptions()
		opt.Collectives = func(device int64, c *collective.Columns) {
			members = append(members, ranks.Member{Input: i, Rank: rank, Device: device, Columns: c})
		}
		list = append(list, analyze.Trace(in.Trace, summary.Input{Path: file, Format: "kineto", Rank: rank, WorldSize: len(files)}, opt))
	}
	s := summary.Join(list...)
	if j := ranks.Match(members); j != nil {
		j.AddTo(s)
	}
	return s
}

// accepted has, for each label, what the verdict must be. The labels say what the programs do: they were written
// before anything was recorded.
var accepted = map[string]func(finding.Verdict) bool{
	"compute":          func(v finding.Verdict) bool { return v.Bound == finding.BoundCompute || v.Bound == finding.BoundGPU },
	"memory-bandwidth": func(v finding.Verdict) bool { return v.Bound == finding.BoundMemory },
	// Launches of microsecond kernels: how it is called depends on the length of the gaps.
	"host": func(v finding.Verdict) bool {
		return v.Bound == finding.BoundHost && (v.Rule == rule.LaunchBound || v.Rule == rule.GPUIdle)
	},
	"synchronization": func(v finding.Verdict) bool { return v.Rule == rule.SyncCalls },
	"memcpy":          func(v finding.Verdict) bool { return v.Bound == finding.BoundCopies },
	"overlap":         func(v finding.Verdict) bool { return v.Bound == finding.BoundCompute }, // the copies are hidden
	"data-loading":    func(v finding.Verdict) bool { return v.Rule == rule.DataLoading },
	"fragmentation":   func(v finding.Verdict) bool { return v.Rule == rule.Allocating }, // the cache is emptied in each step
	// Of two ranks, rank 1 sleeps in each step.
	"straggler": func(v finding.Verdict) bool {
		return v.Bound == finding.BoundCommunication && strings.Contains(v.Sentence, "Waiting for rank 1")
	},
}

// TestLabelsOfCaptures holds the verdicts on captures of programs whose bottleneck was chosen to their labels. An
// undoubted verdict is wanted: the programs are extreme.
func TestLabelsOfCaptures(t *testing.T) {
	var labels []struct{ Name, Label string }
	readJSON(t, filepath.Join(ofH200, "labels.json"), &labels)
	seen := 0
	for _, l := range labels {
		var files []string
		for _, name := range []string{"trace.json.gz", "rank0.json.gz", "rank1.json.gz"} {
			if file := filepath.Join(ofH200, l.Name, name); exists(file) {
				files = append(files, file)
			}
		}
		if len(files) == 0 {
			continue // no trace of PyTorch, or too large for this folder
		}
		seen++
		ok := accepted[l.Label]
		if l.Name == "decode_floor" {
			// Its steps end with a wait, so that nothing hides the launch of the next graph: 28% of the profiled step.
			ok = func(v finding.Verdict) bool { return v.Bound == finding.BoundHost && v.Rule == rule.GPUIdle }
		}
		if ok == nil {
			t.Errorf("%s: no verdict is known for the label %q", l.Name, l.Label)
			continue
		}
		r := Judge(recordedOn(t, files...), rule.DefaultThresholds())
		if !ok(r.Verdict) || r.Verdict.Doubt != nil {
			t.Errorf("%s, labelled %s: %+v\n%s", l.Name, l.Label, r.Verdict, told(r))
		}
	}
	if seen < 10 {
		t.Errorf("%d captures with a label", seen)
	}
}

// TestPairsWithoutProfiler compares verdicts with the step times of the same programs without the profiler. A GPU
// that would be busy for 90% of such a step is not waiting for the CPU, whatever the trace shows; one that would be
// busy for under half of it is not what limits the step.
func TestPairsWithoutProfiler(t *testing.T) {
	var all struct {
		Pairs []struct {
			Name   string
			Before []float64 `json:"before_us"`
			After  []float64 `json:"after_us"`
		}
	}
	readJSON(t, filepath.Join(ofH200, "pairs", "pairs.json"), &all)
	busy, idle := 0, 0
	for _, p := range all.Pairs {
		for name, us := range map[string][]float64{"before": p.Before, "before_sync": p.Before, "after": p.After} {
			s := recordedOn(t, filepath.Join(ofH200, "pairs", p.Name, name+".json.gz"))
			step := stat.Median(slices.Clone(us)) * 1000
			share := float64(s.Devices[0].Activity.Busy()) / float64(len(s.Steps)) / step
			v := Judge(s, rule.DefaultThresholds()).Verdict
			switch {
			case share >= 0.9:
				busy++
				if v.Bound == finding.BoundHost && v.Doubt == nil {
					t.Errorf("%s, %s: busy for %.0f%% of an unprofiled step, but %+v", p.Name, name, 100*share, v)
				}
			case share < 0.5:
				idle++
				if v.Bound == finding.BoundCompute || v.Bound == finding.BoundMemory || v.Bound == finding.BoundGPU {
					t.Errorf("%s, %s: busy for %.0f%% of an unprofiled step, but %+v", p.Name, name, 100*share, v)
				}
			}
		}
	}
	if busy < 5 || idle < 5 {
		t.Errorf("%d captures of a busy GPU, %d of an idle one", busy, idle)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}
