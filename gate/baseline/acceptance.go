package baseline

import (
	"fmt"
	"os"
	"strings"

	"assay/summary"
)

// An Acceptance is the latest decision in a directory of baselines, compared with the new runs.
type Acceptance struct {
	Decision
	Dir     string
	Expired []string // how hardware and software differ from those of the new runs
}

// Text describes the baseline in one line.
func (a Acceptance) Text() string {
	parts := []string{"accepted " + a.Time}
	if a.Provenance.Recorded != "" {
		parts = append(parts, "recorded "+a.Provenance.Recorded)
	}
	if text := a.Provenance.Text(); text != "" {
		parts = append(parts, text)
	}
	if a.Provenance.Command != "" {
		parts = append(parts, "command "+a.Provenance.Command)
	}
	return fmt.Sprintf("%s: %s; reason: %s", a.Dir, strings.Join(parts, ", "), a.Reason)
}

// Acceptances returns the latest decisions of the directories among the names of a baseline.
// Decisions of earlier versions have no provenance, so that of the summaries is used.
func Acceptances(names []string, base []*summary.Summary, now Provenance) (out []Acceptance, err error) {
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			continue
		}
		state, err := Read(name)
		if err != nil {
			return nil, err
		}
		if state.Last.Accepted == "" {
			continue
		}
		a := Acceptance{Decision: state.Last, Dir: name}
		if a.Provenance == nil {
			p := ProvenanceOf(base...)
			a.Provenance = &p
		}
		a.Expired = Differences(*a.Provenance, now)
		out = append(out, a)
	}
	return out, nil
}
