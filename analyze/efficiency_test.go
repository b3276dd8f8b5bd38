package analyze_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/summary"
	"assay/trace"
)

// undecided has what the oracle says of rows of the corpus and assay does not, by the
// operator and its dimensions, with the reason.
var undecided = map[string]string{
	"aten::cat [[], []]":                            "long lists are recorded as empty, so nothing is known of them",
	"aten::gt None None":                            "the trace has no shapes",
	"aten::eq [[], [], [], []]":                     "neither input is a tensor",
	"aten::pow [[256, 6948], [256], [2048, 3474], ": "the inputs do not broadcast",
	"aten::pow [[512, 2842], [512], [2048, 1421], ": "the inputs do not broadcast",
	"aten::where [[2048], [], []]":                  "the type is that of numbers without values",
	"aten::where [[1024], [], []]":                  "the type is that of numbers without values",
	"aten::where [[2048, 512], [2048, 512], ":       "the condition has the type of a number",
}

// TestEfficiencyOracle compares the FLOPs, bytes, times and counts of all operators of the
// corpus with those of a slow, independent reading of the same files.
func TestEfficiencyOracle(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	root := test.Corpus(t, "kineto")
	oracle := filepath.Join(root, "..", "..", "accept", "efficiency.py")
	if _, err := os.Stat(oracle); err != nil {
		t.Skip(err)
	}
	files := map[string]int{
		"tracelens/h100/Falconsai_nsfw_image_detection__1016002.json.gz": 12, "tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": 34,
		"tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz": 16, "tracelens/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz": 8,
		"tracelens/inference/vllm_decode_full/graph_execution.json.gz": 10, "tracelens/mi300/Falconsai_nsfw_image_detection__1016002.json.gz": 12,
		"tracelens/mi300/gaunernst_bert-small-uncased__1016001.json.gz": 16, "tracelens/mi300/resnet_act_checkpoint.json.gz": 103,
		"tracelens/perf_model/normalization/normalization_layer_test.json.gz": 31, "tracelens/torch_compile_triton/trace.json.gz": 8,
		"hta/timeline_analysis/sampled_rank-0.json.gz": 431, "hta/trace_diff/control/control.json.gz": 546, "hta/trace_diff/test/test.json.gz": 455,
		"hta/critical_path/cuda_event_sync/event_sync_trace.json.gz": 4,
	}
	for i, path := range slices.Sorted(maps.Keys(files)) {
		if i%test.Every(5) != 0 {
			continue
		}
		least := files[path]
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(root, filepath.FromSlash(path))
			s := efficiencyOf(t, file)
			var text bytes.Buffer
			if err := summary.Write(&text, s, ""); err != nil {
				t.Fatal(err)
			}
			ours := filepath.Join(t.TempDir(), "summary.json")
			if err := os.WriteFile(ours, text.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(python, oracle, file, "--compare", ours).Output()
			if _, failed := err.(*exec.ExitError); err != nil && !failed {
				t.Fatal(err)
			}
			var rows, differ int
			for line := range strings.Lines(string(out)) {
				said, isRow := strings.CutPrefix(strings.TrimSpace(line), "DIFFERS ")
				if !isRow {
					fmt.Sscanf(line, "%d rows, %d differences", &rows, &differ)
				} else if !expected(said) {
					t.Error(said)
				}
			}
			if rows != least {
				t.Errorf("the oracle compared %d rows, want %d: %s", rows, least, out)
			}
			checkEfficiency(t, s)
			g := &s.Efficiency.Devices[0].EfficiencySums
			t.Logf("FLOPs known for %.1f%% of GPU time, bytes for %.1f%%, no operator %.1f%%, graphs %.1f%%",
				percent(g.FLOPsKnownNS, g.GPUNS), percent(g.BytesKnownNS, g.GPUNS), percent(g.NoOperatorNS, g.GPUNS), percent(g.GraphNS, g.GPUNS))
		})
	}
}

func expected(said string) bool {
	for row := range undecided {
		if strings.HasPrefix(said, row) {
			return true
		}
	}
	return false
}

func percent(part, of int64) float64 { return 100 * float64(part) / float64(max(1, of)) }

// efficiencyOf measures a trace.
func efficiencyOf(t *testing.T, file string) *summary.Summary {
	t.Helper()
	return analyze.Trace(load(t, file).Trace, summary.Input{}, analyze.DefaultOptions())
}

// checkEfficiency checks that the rows of each GPU add up to its sums.
func checkEfficiency(t *testing.T, s *summary.Summary) {
	t.Helper()
	for i := range s.Efficiency.Devices {
		d := &s.Efficiency.Devices[i]
		var sum summary.EfficiencySums
		for j := range s.Efficiency.Rows {
			r := &s.Efficiency.Rows[j]
			if r.Device != d.Device {
				continue
			}
			sum.GPUNS += r.GPUNS
			if r.FLOPs != nil {
				sum.FLOPsKnownNS += r.GPUNS
				if r.Unit == "matrix" {
					sum.MatrixFLOPs = sum.MatrixFLOPs.Plus(*r.FLOPs)
				}
			}
			if r.Bytes != nil {
				sum.BytesKnownNS += r.GPUNS
			}
			unpeaked := r.Unknown == summary.NoPeak && r.RooflineNS == nil
			if (r.FLOPs == nil || r.Bytes == nil) != (r.Unknown != "" && !unpeaked) {
				t.Errorf("%s %s: unknown %q", r.Op, r.Dims, r.Unknown)
			}
			if r.RooflineNS != nil {
				sum.RooflineNS += *r.RooflineNS
				sum.RecoverableNS += max(0, r.GPUNS-*r.RooflineNS)
			}
		}
		got := [...]int64{sum.GPUNS + d.NoOperatorNS, sum.FLOPsKnownNS, sum.BytesKnownNS, int64(sum.MatrixFLOPs), sum.RooflineNS, sum.RecoverableNS}
		want := [...]int64{d.GPUNS, d.FLOPsKnownNS, d.BytesKnownNS, int64(d.MatrixFLOPs), d.RooflineNS, d.RecoverableNS}
		if got != want {
			t.Errorf("GPU %d: the rows add up to %v, its sums are %v", d.Device, got, want)
		}
	}
}

// TestEfficiencyTotals compares the sums of three captures with figures that a script of its
// own computed of them.
func TestEfficiencyTotals(t *testing.T) {
	for path, want := range map[string][6]int64{ // window, GPU time, without an operator, of matrix rows, matrix FLOPs, roofline in 10 µs
		"h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": {49652832, 45647300, 13741827, 11723979, 5761380813760, 1720},
		"torch_compile_triton/trace.json.gz":           {12549032, 12549021, 0, 11713064, 5497558138880, 461},
		"mi300/resnet_act_checkpoint.json.gz":          {86567708, 100230072, 31834405, 10445964, 421185238320, 0},
	} {
		e := efficiencyOf(t, test.Corpus(t, "kineto", "tracelens", filepath.FromSlash(path))).Efficiency
		s := e.Total()
		got := [...]int64{s.WallNS, s.GPUNS, s.NoOperatorNS, s.MatrixNS, int64(s.MatrixFLOPs), (s.RooflineNS + 5000) / 10000}
		if want[5] == 0 { // more operators have formulas than the script knows
			got[5] = 0
		}
		if got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

// TestEfficiencyWindows: what is counted of adjoining parts of a capture adds up to the whole.
func TestEfficiencyWindows(t *testing.T) {
	tr := load(t, filepath.Join("..", "testdata", "gen", "llm_train_step.json.gz")).Trace
	sums := func(tr *trace.Trace) (out [5]int64) {
		s := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
		checkEfficiency(t, s)
		for _, r := range s.Efficiency.Rows {
			out[0], out[1] = out[0]+r.Count, out[1]+r.GPUNS
			if r.FLOPs != nil {
				out[2] += *r.FLOPs
			}
		}
		total := s.Efficiency.Total()
		out[3], out[4] = total.GPUNS, total.WallNS
		return out
	}
	whole := sums(tr)
	first, last := bounds(tr)
	for _, share := range []int64{1, 3, 7} {
		cut := first + (last-first)*share/10
		a, b := sums(tr.Within(first, cut)), sums(tr.Within(cut, last+1))
		for i := range a {
			a[i] += b[i]
		}
		if a != whole || whole[2] == 0 {
			t.Errorf("cut at %d/10: %v, the whole is %v", share, a, whole)
		}
	}
}
