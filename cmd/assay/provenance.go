package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"assay/gate"
	"assay/gate/baseline"
	"assay/summary"
)

// stating has the flags with which users state hardware and software that the inputs do not record.
type stating struct{ hardware, software []string }

func (s *stating) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&s.hardware, "hardware", nil, "state `PART=MODEL` of the machine if the inputs do not state it (logs): GPU=\"NVIDIA H100\"; repeatable")
	flags.StringArrayVar(&s.software, "software", nil, "state `NAME=VERSION` of software of the run: torch=2.9.0; repeatable")
}

// provenance returns the provenance of runs, completed by the flags.
func (s *stating) provenance(runs ...*summary.Summary) (baseline.Provenance, error) {
	p := baseline.ProvenanceOf(runs...)
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

func summaries(runs []gate.Run) (out []*summary.Summary) {
	for _, r := range runs {
		out = append(out, r.Summary)
	}
	return out
}
