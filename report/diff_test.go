package report

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/compare"
	"assay/summary"
)

// comparisons holds every fixture against every other that has GPU time or
// tables, by force, and repeated runs.
func comparisons(t *testing.T) map[string]*compare.Comparison {
	t.Helper()
	out := map[string]*compare.Comparison{}
	all := fixtures()
	names := slices.Sorted(maps.Keys(all))
	for i, a := range names {
		for _, b := range []string{names[(i+1)%len(names)], names[(i+3)%len(names)], a} {
			out[a+" and "+b] = compared(t, all[a], all[b])
		}
	}
	train := trainRun()
	out["repeated"] = compared(t, summary.Merge(train, train), summary.Merge(slower(), train, slower()))
	out["training"] = compared(t, train, slower())
	return out
}

func compared(t *testing.T, a, b *summary.Summary) *compare.Comparison {
	t.Helper()
	c, err := compare.Summaries(a, b, compare.Options{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// slower is the training run with a tenth more of idle time in each step, and
// kernels of another name that take half as long again.
func slower() *summary.Summary {
	s := summary.Merge(trainRun())
	for i := range s.Steps {
		st := &s.Steps[i]
		st.Activity[0] += st.WallNS / 10
		st.WallNS += st.WallNS / 10
	}
	for i := range s.Kernels {
		if k := &s.Kernels[i]; k.Category == "gemm" {
			k.Name += "_2"
			k.TotalNS += k.TotalNS / 2
		}
	}
	return s
}

// TestDiffPictures paints every picture of comparisons: none clips a text or
// lets two overlap.
func TestDiffPictures(t *testing.T) {
	made := map[string]bool{}
	for name, c := range comparisons(t) {
		for _, chart := range DiffCharts(c) {
			made[chart.File()] = true
			painted, err := chart.paint()
			if err != nil {
				t.Fatalf("%s: %s: %v", name, chart.Name, err)
			}
			checkTexts(t, name+": "+chart.Name, painted)
			if *written == "" {
				continue
			}
			f, err := os.Create(filepath.Join(*written, strings.ReplaceAll(name, " ", "-")+"-"+chart.File()))
			if err != nil {
				t.Fatal(err)
			}
			if err := chart.PNG(f); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
	for _, file := range DiffChartFiles() {
		if !made[file] {
			t.Errorf("no comparison has the picture %s", file)
		}
	}
}

// TestDiffChartData holds what is drawn to the comparison.
func TestDiffChartData(t *testing.T) {
	for name, c := range comparisons(t) {
		for _, chart := range DiffCharts(c) {
			switch body := chart.Body.(type) {
			case Stacks:
				if b, n := sumParts(body.Rows[0].Parts), sumParts(body.Rows[1].Parts); b != c.Budget.BaseNS || n != c.Budget.NewNS {
					t.Errorf("%s: bars of %d and %d, want %d and %d", name, b, n, c.Budget.BaseNS, c.Budget.NewNS)
				}
			case Waterfall:
				at := body.From
				for _, s := range body.Steps {
					at += s.NS
				}
				low, high := body.span()
				if at != body.To || body.To != c.Budget.NewNS || low > min(body.From, body.To) || high < max(body.From, body.To) {
					t.Errorf("%s: it ends at %d within %d to %d, want %d", name, at, low, high, c.Budget.NewNS)
				}
			case Moves:
				for _, r := range body.Rows {
					if sumParts(r.Parts) == 0 {
						t.Errorf("%s: %s did not move", name, r.Label)
					}
				}
			case Spreads:
				if len(body.Rows[0].NS) != len(c.Base.Walls) || len(body.Rows[1].NS) != len(c.New.Walls) {
					t.Errorf("%s: not all steps are drawn", name)
				}
			default:
				t.Errorf("%s: %T is not checked", name, body)
			}
		}
	}
}

// TestDiffText: the first line says what changed, no line is wider than the
// terminal, and equal input gives equal text.
func TestDiffText(t *testing.T) {
	again := comparisons(t)
	for name, c := range comparisons(t) {
		var text, same strings.Builder
		if err := BuildDiff(c).Text(&text, 80); err != nil {
			t.Fatal(err)
		}
		if err := BuildDiff(again[name]).Text(&same, 80); err != nil {
			t.Fatal(err)
		}
		if text.String() != same.String() {
			t.Errorf("%s: not the same twice", name)
		}
		if !strings.HasPrefix(text.String(), "What changed: ") {
			t.Errorf("%s begins with %.40q", name, text.String())
		}
		for _, line := range strings.Split(text.String(), "\n") {
			if width(line) > 80 {
				t.Errorf("%s: %d columns: %s", name, width(line), line)
			}
		}
	}
}

// TestDiffGolden shows what a comparison looks like.
func TestDiffGolden(t *testing.T) {
	for name, c := range map[string]*compare.Comparison{"diff": compared(t, trainRun(), slower()), "diff-repeated": comparisons(t)["repeated"]} {
		var text, md strings.Builder
		d := BuildDiff(c)
		if err := d.Text(&text, 80); err != nil {
			t.Fatal(err)
		}
		if err := d.Markdown(&md); err != nil {
			t.Fatal(err)
		}
		for file, got := range map[string]string{name + ".txt": text.String(), name + ".md": md.String()} {
			file = filepath.Join("testdata", file)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != got {
				t.Errorf("%s differs; if that is meant, run with -update. It is now\n%s", file, got)
			}
		}
	}
}

func TestTicksBetween(t *testing.T) {
	for _, tc := range []struct {
		low, high int64
		want      string
	}{
		{71, 171, "[80 100 120 140 160]"}, {0, 100, "[0 20 40 60 80 100]"}, {7, 7, "[7]"}, {1 << 62, 1<<63 - 1, "5 or more"},
	} {
		got := ticksBetween(tc.low, tc.high)
		if tc.want == "5 or more" && len(got) > 0 && len(got) < 9 {
			continue
		}
		if fmt.Sprint(got) != tc.want {
			t.Errorf("%d to %d: got %v, want %s", tc.low, tc.high, got, tc.want)
		}
	}
}
