package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/docs"
	"assay/internal/diag"
	"assay/internal/jsonscan"
	"assay/internal/label"
	"assay/judge/rule"
	"assay/report"
	"assay/report/doc"
)

func explainCommand() *command {
	return &command{
		name: "explain", args: "[RULE|CODE|PAGE...]",
		does: "explain a rule (definition, limits, sources, recommendations), an issue code or a page of the manual, or list all",
		example: `  assay explain
  assay explain gpu-idle
  assay explain input-truncated
  assay explain efficiency
  assay explain gpu-idle --format md > gpu-idle.md
`,
		run: runExplain,
	}
}

func runExplain(e env, c *command, args []string) error {
	var m measure
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	var format string
	explainFormats().flag(flags, &format)
	var part excerpting
	part.register(flags)
	flags.StringVar(&m.thresholds, "thresholds", "", "YAML `FILE` with limits that replace the built-in ones")
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	if wrong := part.check(flags, format, "explanation"); wrong != "" {
		return usageError(e, c, wrong)
	}
	th, err := m.loadThresholds()
	if err != nil {
		return err
	}
	all := explained{Rules: th.Pages(), Codes: diag.Codes(), Pages: manualPages()}
	var chosen explained
	for _, id := range args {
		if !chosen.add(id, all) {
			return usageError(e, c, fmt.Sprintf("unknown rule, issue code or page %q%s", id, nearest(id, all.names())))
		}
	}
	return e.print(part.part(explainFormats().named(format).render(mask(explanation{all, chosen}))))
}

// explained is a selection of rules, issue codes and manual pages.
type explained struct {
	Rules []rule.Page
	Codes []diag.Code
	Pages []docs.Page
}

// add adds the rule, code or page of the given name, and reports whether there is one.
func (x *explained) add(id string, all explained) bool {
	if i := slices.IndexFunc(all.Rules, func(p rule.Page) bool { return p.ID == id }); i >= 0 {
		x.Rules = append(x.Rules, all.Rules[i])
		return true
	}
	if c, ok := diag.CodeOf(id); ok {
		x.Codes = append(x.Codes, c)
		return true
	}
	i := slices.IndexFunc(all.Pages, func(p docs.Page) bool { return p.Name == id })
	if i >= 0 {
		x.Pages = append(x.Pages, all.Pages[i])
	}
	return i >= 0
}

func (x *explained) names() (out []string) {
	for _, p := range x.Rules {
		out = append(out, p.ID)
	}
	for _, c := range x.Codes {
		out = append(out, c.Name)
	}
	for _, p := range x.Pages {
		out = append(out, p.Name)
	}
	return out
}

// explanation has the selected pages. If Chosen is empty, the output is a list of All.
type explanation struct{ All, Chosen explained }

func (x explanation) text(w io.Writer) error {
	return onScreen(func(x explanation, w io.Writer, columns int) error {
		return x.pages(w, func(d doc.Doc) error { return d.Text(w, columns) })
	})(x, w)
}

func (x explanation) markdown(w io.Writer) error {
	return x.pages(w, func(d doc.Doc) error { return d.StepSummary(w) })
}

func (x explanation) json(w io.Writer) error {
	if len(x.Chosen.names()) > 0 {
		return writeExplained(w, x.Chosen)
	}
	for i := range x.All.Pages {
		x.All.Pages[i].Text = "" // a list shows only titles
	}
	return writeExplained(w, x.All)
}

// pages writes documents with write. Pages of the manual are Markdown already and are written
// unchanged.
func (x explanation) pages(w io.Writer, write func(doc.Doc) error) error {
	var parts []func() error
	add := func(d doc.Doc) { parts = append(parts, func() error { return write(d) }) }
	if len(x.Chosen.names()) == 0 {
		add(report.Rules(x.All.Rules))
		add(report.Codes(x.All.Codes))
		add(pagesDoc(x.All.Pages))
	}
	for _, p := range x.Chosen.Rules {
		add(report.Explain(p))
	}
	for _, c := range x.Chosen.Codes {
		add(report.ExplainCode(c))
	}
	for _, p := range x.Chosen.Pages {
		parts = append(parts, func() error { _, err := io.WriteString(w, p.Text); return err })
	}
	for i, part := range parts {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// manualPages returns the pages of the manual, followed by the help topics about files that users
// write.
func manualPages() []docs.Page {
	pages := docs.Pages()
	for _, t := range topics() {
		if t.name == "pages" {
			continue
		}
		pages = append(pages, docs.Page{Name: t.name, Title: t.title, Text: t.text + t.file()})
	}
	return pages
}

func pagesDoc(pages []docs.Page) doc.Doc {
	var list doc.List
	for _, p := range pages {
		list = append(list, doc.Item{Mark: p.Name, Text: p.Title})
	}
	s := []doc.Section{{Title: "Pages", Lead: "of the manual; \"assay explain PAGE\" prints one", Blocks: []doc.Block{list}}}
	return doc.Doc{Title: "Pages", Screen: s, Sections: s}
}

// explainedJSON is the JSON of an explanation.
type explainedJSON struct {
	Rules []rule.Page `json:"rules"`
	Codes []codeJSON  `json:"codes,omitempty"`
	Pages []pageJSON  `json:"pages,omitempty"`
}

type codeJSON struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // the worst
	Means    string `json:"means"`
	Do       string `json:"do,omitempty"`
}

type pageJSON struct {
	Page  string `json:"page"`
	Title string `json:"title"`
	Text  string `json:"text,omitempty"` // Markdown
}

func writeExplained(w io.Writer, x explained) error {
	var codes []codeJSON
	var pages []pageJSON
	for _, p := range x.Pages {
		pages = append(pages, pageJSON{p.Name, p.Title, p.Text})
	}
	for _, c := range x.Codes {
		codes = append(codes, codeJSON{c.Name, c.Severity.String(), c.Means, c.Do})
	}
	if x.Rules == nil {
		x.Rules = []rule.Page{}
	}
	return jsonscan.Write(w, explainedJSON{x.Rules, codes, pages})
}

// nearest suggests names for a misspelled one: those with a similar spelling, or otherwise those
// that share a word with it.
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
