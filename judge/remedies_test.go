package judge

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

func texts(steps []finding.Step) (out []string) {
	for _, s := range steps {
		out = append(out, rule.Text(s))
	}
	return out
}

func ids(steps []finding.Step) (out []string) {
	for _, s := range steps {
		out = append(out, s.ID)
	}
	return out
}

var blanksOf = regexp.MustCompile(`\{([^}]*)\}`)

// blanks returns the blanks of a text, sorted.
func blanks(text string) (out []string) {
	for _, m := range blanksOf.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// checkSteps checks that each step of a result has a text without blanks and a source,
// comes once, and is listed in the entry of its rule.
func checkSteps(t *testing.T, name string, r Result) {
	t.Helper()
	remedies := map[string][]rule.Remedy{}
	for _, p := range rule.DefaultThresholds().Pages() {
		remedies[p.ID] = p.Remedies
	}
	for _, f := range r.Findings {
		for i, s := range f.Next {
			at := slices.IndexFunc(remedies[f.Rule], func(r rule.Remedy) bool { return r.ID == s.ID })
			if at < 0 {
				t.Errorf("%s: findings of %s give the remedy %q, which the entry of the rule neither defines nor names in also", name, f.Rule, s.ID)
				continue
			}
			text := remedies[f.Rule][at].Text
			if args := slices.Sorted(maps.Keys(s.Args)); !slices.Equal(args, blanks(text)) || rule.SourceOf(s) == (rule.Source{}) {
				t.Errorf("%s: %s: %q has %q for the blanks of %q", name, f.Rule, s.ID, args, text)
			}
			if slices.ContainsFunc(f.Next[:i], func(o finding.Step) bool { return reflect.DeepEqual(o, s) }) {
				t.Errorf("%s: %s gives %q twice", name, f.Rule, s.ID)
			}
		}
	}
}

// TestSources: advice cites the page that it is about, whatever rule gives it.
func TestSources(t *testing.T) {
	for id, url := range map[string]string{
		"load-data-ahead": "/docs/stable/data.html", "schedule-garbage-collection": "/library/gc.html", "cache-results": "/library/functools.html",
		"check-by-sampling": "py-spy", "collect-all-counters": "NsightComputeCli", "expandable-segments": "/notes/cuda.html", "ddp-buckets": "DistributedDataParallel",
		"record-memory-history": "torch_cuda_memory", "overlap-loads": "ProfilingGuide",
	} {
		if got := rule.SourceOf(finding.Advise(id)).URL; !strings.Contains(got, url) {
			t.Errorf("%s comes from %s, want %s", id, got, url)
		}
	}
	s := one(300, 200, 100)
	s.Phases = []summary.Phase{{Path: "generation", Activity: s.Devices[0].Activity, Total: s.Devices[0].Activity, Count: 1}}
	s.Issues = []summary.Issue{{Code: "x", Severity: "data-loss", Count: 1, Help: "record again"}}
	r := Judge(s, rule.DefaultThresholds())
	if len(r.Findings) < 4 {
		t.Fatalf("%d findings, want 4", len(r.Findings))
	}
	checkSteps(t, "four parts", r)
}
