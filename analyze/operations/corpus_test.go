package operations

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"assay/internal/interval"
	"assay/internal/test"
	"assay/trace"
)

// TestPublishedSlowdowns compares slowdowns and their parts with those that ByteDance published for
// its timelines.
func TestPublishedSlowdowns(t *testing.T) {
	for _, name := range []string{"ST", "AR"} {
		t.Run(name, func(t *testing.T) {
			folder := test.Corpus(t, filepath.Join("ranks", "bytedance_"+name))
			var want struct {
				Slowdown   float64            `json:"blocking_slowdown"`
				ByRank     map[string]float64 `json:"blocking_decompose_by_dp_rank"`
				ByStage    map[string]float64 `json:"blocking_decompose_by_stage"`
				ByName     map[string]float64 `json:"blocking_decompose_by_optype"`
				Replayed   map[string]float64 `json:"step_t_nodelay"`
				TypicalOne map[string]float64 `json:"step_t_noblk"`
			}
			text, err := os.ReadFile(filepath.Join(folder, "result-"+name+".json"))
			if err == nil {
				err = json.Unmarshal(text, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(filepath.Join(folder, "timeline-"+name+".json.gz"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			z, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			tr, err := trace.Read(z, name, trace.SelectAll())
			if err != nil {
				t.Fatal(err)
			}
			j, err := Of(tr, interval.Span{})
			if err != nil {
				t.Fatal(err)
			}
			a, err := j.Answer(nil)
			if err != nil {
				t.Fatal(err)
			}
			near := func(what string, got, want float64) {
				if !(math.Abs(got/want-1) < 1e-5) {
					t.Errorf("%s: %.7f, published %.7f", what, got, want)
				}
			}
			near("slowdown", a.Slowdown, want.Slowdown)
			near("replayed", float64(a.ReplayedNS)/1e9, mean(want.Replayed))
			near("typical", float64(a.TypicalNS)/1e9, mean(want.TypicalOne))
			parts := 0
			for of, published := range map[string]map[string]float64{"DP rank ": want.ByRank, "PP rank ": want.ByStage, "": want.ByName} {
				for key, w := range published {
					switch key {
					case "forward-pp-comm":
						key = "forward-send/recv"
					case "backward-pp-comm":
						key = "backward-send/recv"
					}
					for _, list := range [][]Part{a.ByRank, a.ByStage, a.ByOperation} {
						for _, p := range list {
							if p.Name == of+key {
								near(p.Name, p.Slowdown, w)
								parts++
							}
						}
					}
				}
			}
			if n := len(want.ByRank) + len(want.ByStage) + len(want.ByName); parts != n {
				t.Errorf("%d of %d parts", parts, n)
			}
			t.Logf("%s: slowdown %.4f (published %.4f), %d parts", name, a.Slowdown, want.Slowdown, parts)
		})
	}
}

func mean(of map[string]float64) float64 {
	sum := 0.0
	for _, x := range of {
		sum += x
	}
	return sum / float64(len(of))
}
