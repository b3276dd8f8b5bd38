package analyze

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/internal/test/layergen"
	"assay/summary"
	"assay/trace"
)

// layersOf measures the layers of a generated capture.
func layersOf(t *testing.T, c layergen.Capture) []summary.Layer {
	t.Helper()
	tr, err := trace.Read(bytes.NewReader(c.JSON), "trace.json", Needs())
	if err != nil {
		t.Fatal(err)
	}
	opt := DefaultOptions()
	opt.Without = AllMeasures &^ Layers
	return Trace(tr, summary.Input{Path: "trace.json"}, opt).Layers
}

// TestLayersOfModels compares the layers of generated models with what was generated: their number, which have the same
// kind, and where each begins and ends. The names of kinds and passes are compared where kernels or operators tell them.
func TestLayersOfModels(t *testing.T) {
	for _, scene := range layergen.Scenes(test.Seed(t)) {
		t.Run(scene.Name, func(t *testing.T) {
			t.Parallel()
			c := layergen.Generate(scene.Config)
			got := placed(layersOf(t, c), scene.Config)
			want := wanted(c.Runs, scene.Config)
			for _, w := range want {
				if !slices.Contains(got, w) {
					t.Errorf("not found: %s", w)
				}
			}
			for _, g := range got {
				if !slices.Contains(want, g) {
					t.Errorf("found, and not there: %s", g)
				}
			}
		})
	}
}

// marked reports whether a pass is known: it is that of operators.
func marked(c layergen.Config) bool { return !c.Graphs }

// placed describes rows by step, pass, and for each layer its place and length; then by where the first begins.
func placed(rows []summary.Layer, c layergen.Config) (out []string) {
	for i := range rows {
		r := &rows[i]
		pass := r.Pass
		if !marked(c) {
			pass = ""
		}
		out = append(out, describe(r.Step, pass, r.StartNS, r.EndNS, r.Index, r.LengthNS))
	}
	return out
}

func describe(step, pass string, start, end int64, index []int32, lengths []int64) string {
	return fmt.Sprintf("%s %s %d layers %d to %d: %v %v", step, pass, len(index), start, end, index, lengths)
}

// wanted describes the truth in the same way.
func wanted(runs []layergen.Run, c layergen.Config) (out []string) {
	for _, r := range runs {
		pass := r.Pass
		if !marked(c) {
			pass = ""
		}
		kinds, of := r.Kinds()
		for _, kind := range kinds {
			var index []int32
			var lengths []int64
			for _, l := range of[kind] {
				index, lengths = append(index, int32(l.Index)), append(lengths, l.EndNS-l.StartNS)
			}
			list := of[kind]
			out = append(out, describe(r.Step, pass, list[0].StartNS, list[len(list)-1].EndNS, index, lengths))
		}
	}
	return out
}

// TestNoLayers: where nothing is repeated like the layers of a model, none are found.
func TestNoLayers(t *testing.T) {
	for _, scene := range layergen.NearMisses(test.Seed(t)) {
		for _, r := range layersOf(t, layergen.Generate(scene.Config)) {
			t.Errorf("%s: %s: %d layers (%s, %s) of %d ns", scene.Name, r.Step, r.Count, r.Kind, r.Pass, r.MedianNS)
		}
	}
}

// TestLayerParts compares the time of the parts of layers, added up over a step, where the names of kernels tell the
// parts: to the ns.
func TestLayerParts(t *testing.T) {
	for _, scene := range layergen.Scenes(test.Seed(t)) {
		if name := scene.Name; strings.HasPrefix(name, "huggingface/") {
			continue // norms and rotary embeddings are elementwise kernels, whose names do not tell the part
		}
		t.Run(scene.Name, func(t *testing.T) {
			t.Parallel()
			c := layergen.Generate(scene.Config)
			got, want := map[string]int64{}, map[string]int64{}
			for _, r := range layersOf(t, c) {
				for _, p := range r.Parts.Each() {
					got[fmt.Sprint(r.Step, r.Index, " ", p.Name)] += p.NS
				}
			}
			for _, r := range c.Runs {
				kinds, of := r.Kinds()
				for _, kind := range kinds {
					var index []int32
					for _, l := range of[kind] {
						index = append(index, int32(l.Index))
					}
					for _, l := range of[kind] {
						for part, ns := range l.Parts {
							want[fmt.Sprint(r.Step, index, " ", part)] += ns
						}
					}
				}
			}
			for _, key := range slices.SortedFunc(maps.Keys(want), cmp.Compare[string]) {
				if got[key] != want[key] {
					t.Errorf("%s is %d ns, want %d", key, got[key], want[key])
				}
			}
		})
	}
}
