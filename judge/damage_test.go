package judge

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/internal/test/damage"
	"assay/internal/test/tracegen"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
)

// A wholeCapture is one whose verdict is known: that of the capture without damage.
type wholeCapture struct {
	name string
	text []byte
}

// generatedCaptures are the presets with GPU records.
func generatedCaptures(t *testing.T) (out []wholeCapture) {
	for _, p := range tracegen.Presets() {
		if p.Name == "cpu_only" { // has no GPU records to damage
			continue
		}
		var b bytes.Buffer
		if _, err := tracegen.Generate(&b, p.Make(), 0); err != nil {
			t.Fatal(err)
		}
		out = append(out, wholeCapture{p.Name, b.Bytes()})
	}
	return out
}

// realCaptures are captures of the corpus. It skips the test if there is none.
func realCaptures(t *testing.T) (out []wholeCapture) {
	for _, elem := range []string{"hta/critical_path/alexnet", "hta/timeline_analysis", "tracelens/mi300", "tracelens/h100"} {
		for _, file := range test.Files(t, filepath.Join(test.Corpus(t, "kineto"), elem, "*.json.gz")) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			z, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(z)
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			if len(text) < 8<<20 && bytes.Contains(text, []byte(`"traceEvents"`)) {
				out = append(out, wholeCapture{filepath.Join(elem, filepath.Base(file)), text})
			}
		}
	}
	return out
}

// A verdictOf is what the test compares of a verdict.
type verdictOf struct {
	bound  finding.Bound
	rule   string
	share  float64 // of the finding that decided; NaN if there is none
	silent bool    // no doubt is stated: no abstention and no doubt
	text   string
}

func verdictOn(text []byte) (v verdictOf, ok bool) {
	tr, err := trace.Read(bytes.NewReader(text), "run.json", analyze.Needs())
	if err != nil {
		return v, false
	}
	s := analyze.Trace(tr, summary.Input{Path: "run.json", Format: "kineto", RankFrom: "trace"}, analyze.DefaultOptions())
	r := Judge(s, rule.DefaultThresholds())
	v = verdictOf{bound: r.Verdict.Bound, rule: r.Verdict.Rule, share: math.NaN(), silent: r.Verdict.Abstained == nil && r.Verdict.Doubt == nil, text: r.Verdict.Sentence}
	for _, f := range r.Findings {
		if f.Rule == r.Verdict.Rule && f.DenominatorNS > 0 {
			v.share = float64(f.NumeratorNS) / float64(f.DenominatorNS)
			break
		}
	}
	return v, true
}

// differs reports whether a damaged capture has another verdict, or one for the same reason whose share
// differs by more than 10 points.
func (v verdictOf) differs(whole verdictOf) bool {
	if v.bound == finding.BoundUnknown || !v.silent {
		return false
	}
	return v.bound != whole.bound || v.rule == whole.rule && math.Abs(v.share-whole.share) > 0.1
}

// TestDamage: no damaged capture has a confident verdict that differs from that of the whole one where
// the file holds evidence. Those that are wrong today are listed, so that none is added: what is
// listed and right fails too. make damage runs all captures and prints what no file could tell.
func TestDamage(t *testing.T) {
	const known = "testdata/damage.txt"
	text, err := os.ReadFile(filepath.FromSlash(known))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	listed := make(map[string]string) // the reason, by line
	for line := range strings.Lines(string(text)) {
		what, why, _ := strings.Cut(strings.TrimSpace(line), " | ")
		if listed[what] = why; why == "" {
			t.Errorf("%s has no reason", what)
		}
	}
	t.Run("generated", func(t *testing.T) { applyDamage(t, generatedCaptures(t), listed) })
	t.Run("real", func(t *testing.T) { applyDamage(t, realCaptures(t), listed) })
}

// applyDamage applies each kind of damage to each capture. listed are the wrong verdicts that are known.
func applyDamage(t *testing.T, captures []wholeCapture, listed map[string]string) {
	var wrong, hidden []string
	runs := 0
	for i, c := range captures {
		if i%test.Every(8) != 0 {
			continue
		}
		whole, ok := verdictOn(c.text)
		if !ok {
			t.Fatalf("%s cannot be read", c.name)
		}
		for _, k := range damage.Kinds() {
			v, ok := verdictOn(k.Apply(c.text))
			runs++
			line := fmt.Sprintf("%s: %s", c.name, k.Name)
			switch bad := ok && v.differs(whole); {
			case bad && k.Hidden:
				hidden = append(hidden, line)
			case bad:
				wrong = append(wrong, line)
				if why, ok := listed[line]; ok {
					hidden = append(hidden, line+": "+why)
				} else {
					t.Errorf("%s: %s %q; the whole capture: %s %q", line, v.bound, v.text, whole.bound, whole.text)
				}
			case listed[line] != "":
				t.Errorf("%s is right and listed", line)
			}
		}
	}
	t.Logf("%d runs, %d wrong, %d that no file could tell", runs, len(wrong), len(hidden))
	for _, line := range hidden {
		t.Log("no evidence: ", line)
	}
}
