package forms

import (
	"math"
	"os"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/logs"
)

// readText reads a text with a set.
func readText(t testing.TB, set *Set, text string) *logs.Log {
	t.Helper()
	log, err := Read(strings.NewReader(text), "test.log", set, logs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// lastOf returns the last value of the series that a name is of: a metric, or what its
// producer calls it.
func lastOf(log *logs.Log, name string) (v float64, found bool) {
	for _, s := range log.Series {
		if n := s.Points.Len(); (s.Metric.Name == name || s.As == name) && n > 0 {
			v, found = s.Points.Value[n-1], true
		}
	}
	return v, found
}

// TestSamples: each form reads its samples, and says of them what its file says.
func TestSamples(t *testing.T) {
	for name, text := range BuiltIn() {
		checkSamples(t, name, text, Default())
	}
}

// TestAddingALogForm reads the form on the page for contributors, with its samples.
func TestAddingALogForm(t *testing.T) {
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## Add a log form\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	text := test.Snippets(t, "\n"+rest, 1)[0].Text
	own, err := Parse([]byte(text), "CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := checkSamples(t, "CONTRIBUTING.md", text, Default().With(own)); n < 2 {
		t.Errorf("%d numbers of samples were checked", n)
	}
}

// checkSamples reads each sample of a file of forms, compares its numbers with those that
// the file states, and returns how many there were.
func checkSamples(t *testing.T, name, text string, set *Set) (n int) {
	t.Helper()
	entries, lines, err := entriesOf([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		for _, s := range e.Samples {
			r := NewReader("sample", set, logs.Limits{})
			r.Write([]byte(s.Text + "\n"))
			log := r.Close(true)
			if len(s.Gives) > 0 && (len(log.Producers) == 0 || log.Producers[0].Name != e.Producer) {
				t.Errorf("%s:%d: %s: producers %v", name, lines[i], e.ID, log.Producers)
			}
			for key, want := range s.Gives {
				n++
				got, ok := lastOf(log, key)
				if !ok || math.Abs(got-want) > 1e-9*math.Abs(want) {
					t.Errorf("%s:%d: %s: %s is %v (%v), want %v", name, lines[i], e.ID, key, got, ok, want)
				}
			}
		}
	}
	return n
}
