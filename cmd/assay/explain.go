package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/judge"
	"assay/report"
)

func explainCommand() *command {
	return &command{
		name: "explain", args: "[RULE...]",
		does: "print what a rule means: definition, limits, sources, remedies; or list the rules",
		example: `  assay explain
  assay explain gpu-idle
  assay explain gpu-idle --format md > gpu-idle.md
`,
		run: runExplain,
	}
}

func runExplain(e env, c *command, args []string) error {
	var m measure
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	format := flags.StringP("format", "f", "text", "`FORMAT` of the output: text, md or json")
	flags.StringVar(&m.thresholds, "thresholds", "", "YAML `FILE` with limits that replace the built-in ones")
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	if wrong := checkFormat(*format); wrong != "" {
		return usageError(e, c, wrong)
	}
	th, err := m.loadThresholds()
	if err != nil {
		return err
	}
	pages := th.Pages()
	var chosen []judge.Page
	for _, id := range args {
		i := slices.IndexFunc(pages, func(p judge.Page) bool { return p.ID == id })
		if i < 0 {
			return usageError(e, c, fmt.Sprintf("unknown rule %q%s", id, nearest(id, pages)))
		}
		chosen = append(chosen, pages[i])
	}
	return e.print(mask(struct{ All, Chosen []judge.Page }{pages, chosen}).as(func(p struct{ All, Chosen []judge.Page }, w io.Writer) error {
		return writePages(w, *format, p.All, p.Chosen)
	}))
}

// writePages writes the chosen pages, or the list of all where none is chosen.
func writePages(w io.Writer, format string, all, chosen []judge.Page) error {
	if format == "json" {
		if len(chosen) == 0 {
			chosen = all
		}
		return report.WriteJSON(w, struct {
			Rules []judge.Page `json:"rules"`
		}{chosen})
	}
	docs := []report.Doc{report.Rules(all)}
	if len(chosen) > 0 {
		docs = nil
		for _, p := range chosen {
			docs = append(docs, report.Explain(p))
		}
	}
	for i, doc := range docs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := inFormat(format, doc.Text, doc.StepSummary, doc.JSON)(w); err != nil {
			return err
		}
	}
	return nil
}

// nearest suggests the rules that have a word of what was asked for.
func nearest(id string, pages []judge.Page) string {
	var near []string
	for _, p := range pages {
		for _, word := range strings.FieldsFunc(id, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }) {
			if len(word) > 2 && strings.Contains(p.ID, strings.ToLower(word)) && !slices.Contains(near, p.ID) {
				near = append(near, p.ID)
			}
		}
	}
	if len(near) == 0 {
		return "; \"assay explain\" lists them"
	}
	return ", did you mean " + strings.Join(near[:min(4, len(near))], ", ")
}
