package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/diag"
	"assay/internal/jsontext"
	"assay/internal/label"
	"assay/judge/rule"
	"assay/report"
	"assay/report/doc"
)

func explainCommand() *command {
	return &command{
		name: "explain", args: "[RULE|CODE...]",
		does: "explain a rule (definition, limits, sources, recommendations) or an issue code, or list all",
		example: `  assay explain
  assay explain gpu-idle
  assay explain input-truncated
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
	all := explained{Rules: th.Pages(), Codes: diag.Codes()}
	var chosen explained
	for _, id := range args {
		if !chosen.add(id, all) {
			return usageError(e, c, fmt.Sprintf("unknown rule or issue code %q%s", id, nearest(id, all.names())))
		}
	}
	return e.print(mask(struct{ All, Chosen explained }{all, chosen}).as(func(p struct{ All, Chosen explained }, w io.Writer) error {
		return writePages(w, *format, p.All, p.Chosen)
	}))
}

// An explained is rules and codes of issues.
type explained struct {
	Rules []rule.Page
	Codes []diag.Code
}

// add adds the rule or code of the given name, and reports whether there is one.
func (x *explained) add(id string, all explained) bool {
	if i := slices.IndexFunc(all.Rules, func(p rule.Page) bool { return p.ID == id }); i >= 0 {
		x.Rules = append(x.Rules, all.Rules[i])
		return true
	}
	c, ok := diag.CodeOf(id)
	if ok {
		x.Codes = append(x.Codes, c)
	}
	return ok
}

func (x *explained) names() (out []string) {
	for _, p := range x.Rules {
		out = append(out, p.ID)
	}
	for _, c := range x.Codes {
		out = append(out, c.Name)
	}
	return out
}

// writePages writes the chosen pages, or the list of all if none is chosen.
func writePages(w io.Writer, format string, all, chosen explained) error {
	if format == "json" {
		if len(chosen.Rules)+len(chosen.Codes) == 0 {
			chosen = all
		}
		return writeExplained(w, chosen)
	}
	docs := []doc.Doc{report.Rules(all.Rules), report.Codes(all.Codes)}
	if len(chosen.Rules)+len(chosen.Codes) > 0 {
		docs = nil
		for _, p := range chosen.Rules {
			docs = append(docs, report.Explain(p))
		}
		for _, c := range chosen.Codes {
			docs = append(docs, report.ExplainCode(c))
		}
	}
	for i, doc := range docs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := inFormat(format, doc.Text, doc.StepSummary, nil)(w); err != nil {
			return err
		}
	}
	return nil
}

// writeExplained writes pages as JSON.
func writeExplained(w io.Writer, x explained) error {
	type code struct {
		Code     string `json:"code"`
		Severity string `json:"severity"` // the worst
		Means    string `json:"means"`
		Do       string `json:"do,omitempty"`
	}
	var codes []code
	for _, c := range x.Codes {
		codes = append(codes, code{c.Name, c.Severity.String(), c.Means, c.Do})
	}
	if x.Rules == nil {
		x.Rules = []rule.Page{}
	}
	return jsontext.Write(w, struct {
		Rules []rule.Page `json:"rules"`
		Codes []code      `json:"codes,omitempty"`
	}{x.Rules, codes})
}

// nearest suggests names with a similar spelling, or else names that share a word.
func nearest(id string, names []string) string {
	id = strings.ToLower(strings.NewReplacer("_", "-", " ", "-").Replace(id))
	var near, share []string
	best := max(2, len(id)/5) // changes of a letter
	for _, name := range names {
		switch d := label.Edits(id, name); {
		case d < best:
			near, best = []string{name}, d
		case d == best:
			near = append(near, name)
		}
		for word := range strings.SplitSeq(id, "-") {
			if len(word) > 2 && strings.Contains(name, word) && !slices.Contains(share, name) {
				share = append(share, name)
			}
		}
	}
	if near == nil {
		near = share
	}
	if len(near) == 0 {
		return "; \"assay explain\" lists them"
	}
	return ", did you mean " + strings.Join(near[:min(4, len(near))], ", ")
}
