package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/compare"
	"assay/internal/label"
	"assay/internal/test/samplerun"
)

// TestDiffText: the first line says what changed, no line is wider than the
// terminal, and equal input gives equal text.
func TestDiffText(t *testing.T) {
	again := samplerun.Comparisons(t)
	for name, c := range samplerun.Comparisons(t) {
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
			if label.Width(line) > 80 {
				t.Errorf("%s: %d columns: %s", name, label.Width(line), line)
			}
		}
	}
}

// TestDiffGolden shows what a comparison looks like.
func TestDiffGolden(t *testing.T) {
	for name, c := range map[string]*compare.Comparison{"diff": samplerun.Compared(t, samplerun.Train(), samplerun.Slower()), "diff-repeated": samplerun.Comparisons(t)["repeated"]} {
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

// TestDiffEfficiency: communication is not in the GPU time of either side, MFU has its limits, and
// where coverage differs and the ranges overlap the change is not certain.
func TestDiffEfficiency(t *testing.T) {
	base, now := samplerun.Efficient(), samplerun.Efficient()
	base.Efficiency.Devices[0].CommNS = 2_000_000 // 12 of 14 ms are not communication; 2,002,312 ns are unknown
	d := &now.Efficiency.Devices[0]
	half := *d.MFU / 2
	d.MFU = &half // half of the FLOPs are recomputed
	c, err := compare.Summaries(base, now, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := BuildDiff(c).Markdown(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"FLOPs are known for 71.4% of total GPU time without communication, was 83.3%; bytes for 73.6%, was 85.8%.",
		"MFU: at least 6.9% and at most 26.9%, was at least 13.8% and at most 23.8%. HFU: at least 13.8% and at most 33.8%, was at least 13.8% and at most 23.8%. FLOPs are known for other shares",
		"Recoverable time: up to 39.8% of this GPU time, was 46.4%.",
	} {
		if !strings.Contains(out.String(), want) {
			_, text, _ := strings.Cut(out.String(), "## Efficiency")
			t.Errorf("the comparison lacks %q:\n%.900s", want, text)
		}
	}
}
