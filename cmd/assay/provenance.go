package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"assay/gate"
	"assay/gate/provenance"
	"assay/internal/ingest"
	"assay/summary"
)

// A stating holds the flags with which users state hardware and software that inputs do not state.
type stating struct{ hardware, software []string }

func (s *stating) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&s.hardware, "hardware", nil, "state `PART=MODEL` of the machine if the inputs do not state it (logs): GPU=\"NVIDIA H100\"; repeatable")
	flags.StringArrayVar(&s.software, "software", nil, "state `NAME=VERSION` of software of the run: torch=2.9.0; repeatable")
}

// of returns the provenance of runs, with what is stated.
func (s *stating) of(runs ...*summary.Summary) (provenance.Provenance, error) {
	p := provenance.Of(runs...)
	for _, list := range []struct {
		flag  string
		texts []string
		set   func(name, value string)
	}{
		{"--hardware", s.hardware, func(name, value string) { p.State(name, "", value) }},
		{"--software", s.software, func(name, value string) { p.State("", name, value) }},
	} {
		for _, text := range list.texts {
			name, value, ok := strings.Cut(text, "=")
			if name, value = strings.TrimSpace(name), strings.TrimSpace(value); !ok || name == "" || value == "" {
				return p, fmt.Errorf("%s is %q, want NAME=VALUE", list.flag, text)
			}
			list.set(name, value)
		}
	}
	return p, nil
}

// An acceptance is what a check knows of a baseline that was accepted.
type acceptance struct {
	decision
	dir     string
	expired []string // differences of hardware and software from the new runs
}

// text describes the baseline in one line.
func (a acceptance) text() string {
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
	return fmt.Sprintf("%s: %s; reason: %s", a.dir, strings.Join(parts, ", "), a.Reason)
}

// acceptances returns the latest decisions of the directories among the names of a
// baseline. Decisions of earlier versions have no provenance: that of the summaries counts.
func acceptances(names []string, base []gate.Run, now provenance.Provenance) (out []acceptance, err error) {
	for _, name := range names {
		if info, err := os.Stat(name); name == ingest.Stdin || err != nil || !info.IsDir() {
			continue
		}
		said, err := readDecisions(name)
		if err != nil {
			return nil, err
		}
		if said.last.Accepted == "" {
			continue
		}
		a := acceptance{decision: said.last, dir: name}
		if a.Provenance == nil {
			p := provenance.Of(summaries(base)...)
			a.Provenance = &p
		}
		a.expired = provenance.Differences(*a.Provenance, now)
		out = append(out, a)
	}
	return out, nil
}

func summaries(runs []gate.Run) (out []*summary.Summary) {
	for _, r := range runs {
		out = append(out, r.Summary)
	}
	return out
}
