package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/analyze"
	"assay/compare/history"
	"assay/gate"
	"assay/gate/metric"
	"assay/ingest"
	"assay/internal/diag"
	"assay/judge/rule"
	"assay/report"
	reporthistory "assay/report/history"
	"assay/report/plot"
	"assay/summary"
)

func historyCommand() *command {
	return &command{
		name: "history", args: "DIR|INPUT... [-o DIR]",
		does: "follow metrics over many runs: at which run their level changed, and what that run does differently",
		example: `  assay history nightly/                      # each file and each directory in it is a run
  assay history nightly/ -o out               # also out/history.html, with a picture
  assay history nightly/*/summary.json --metric step.median --metric 'kernels.total_per_step{category=gemm}'
  assay check new/ --history nightly/         # gates against the runs since the last change
`,
		run: runHistory,
	}
}

// following has the flags of the history command.
type following struct {
	source
	metrics     []string
	format, dir string
	noHTML      bool
	form        *string // see [pictureFlag]
	part        excerpting
}

func (f *following) register(flags *pflag.FlagSet) {
	flags.SortFlags = false
	historyFormats().flag(flags, &f.format)
	flags.StringArrayVar(&f.metrics, "metric", nil, "follow this `METRIC` of \"assay help gates\", with a selector if it has one, instead of those of the default gates; repeatable")
	flags.StringVarP(&f.dir, "output", "o", "", "`DIR` for history.html, history.md, history.json and a picture; created if missing")
	flags.BoolVar(&f.noHTML, "no-html", false, "do not write history.html, the page for a browser")
	f.form = pictureFlag(flags)
	f.part.register(flags)
	f.source.register(flags)
}

func (f *following) files() reportFiles {
	return reportFiles{json: "history.json", markdown: "history.md", html: !f.noHTML, pictures: reporthistory.Files(), form: plot.Forms()[*f.form]}
}

func runHistory(e env, c *command, args []string) error {
	var f following
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	f.register(flags)
	f.window.register(flags)
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	wrong := f.part.check(flags, f.format, "history")
	if len(args) == 0 {
		wrong = "no runs: name a directory of runs, or their files"
	}
	if slices.Contains(args, ingest.Stdin) {
		wrong = "standard input is one run, and a history needs many: name their files"
	}
	gates, err := gatesOf(f.metrics)
	if err != nil {
		wrong = err.Error()
	}
	if wrong != "" {
		return usageError(e, c, wrong)
	}
	if f.dir != "" {
		if err := keepInputs(e, c, "report", f.dir, f.files().names(), slices.Concat(args, f.settings())); err != nil {
			return err
		}
		f.writesTo(f.dir, f.files().names())
	}
	h, _, failed := followed(e, c, &f.source, args, gates, diffOutput)
	if h == nil {
		return failed
	}
	f.hideUsers(h)
	doc := mask(report.BuildHistory(h))
	if f.dir != "" {
		names, err := writeReport(f.dir, doc, f.files())
		if err != nil {
			return fmt.Errorf("cannot write the report: %w", diag.PathOnly(err))
		}
		defer e.say("wrote %s and %s in %s", filepath.Join(f.dir, names[0]), plural(len(names)-1, "more file", "more files"), f.dir)
	}
	return errors.Join(e.print(f.part.part(historyFormats().named(f.format).render(doc))), failed)
}

// gatesOf returns gates on the metrics, or the default gates if there are none.
func gatesOf(metrics []string) ([]gate.Gate, error) {
	if len(metrics) == 0 {
		return gate.Default(), nil
	}
	var gates []gate.Gate
	for _, text := range metrics {
		m, sel, err := metric.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--metric: %w", err)
		}
		for _, key := range m.Needs {
			if sel.Value(key) == "" {
				return nil, fmt.Errorf("--metric: %s needs a selector: write %s", m.Name, m.Named())
			}
		}
		if m.Across {
			return nil, fmt.Errorf("--metric: %s compares several runs, and a history has one value for each", m.Name)
		}
		gates = append(gates, gate.Gate{Text: m.Name + sel.String(), Metric: m, Selector: sel})
	}
	return gates, nil
}

// measuresOf returns what the metrics of gates need to be measured.
func measuresOf(gates []gate.Gate) (out analyze.Measures) {
	for _, g := range gates {
		if g.Metric.Efficiency {
			out |= analyze.Efficiency
		}
		if g.Metric.Passes {
			out |= analyze.Passes
		}
		if g.Metric.Layers {
			out |= analyze.Layers | analyze.LayerSteps
		}
	}
	return out
}

// A followedRun is one run of a history, with its files.
type followedRun struct {
	name, path string
	files      []string
	saved      bool // the files are summaries
}

// runsIn returns the runs that arguments name, in the order of their paths: each file, and each file or
// directory in a directory.
func runsIn(args, own []string) (runs []followedRun, failed []error, others int) {
	for _, arg := range args {
		list := ingest.Paths([]string{arg})
		list.Disregard(own)
		failed, others = append(failed, list.Failed...), others+list.Others
		info, err := os.Stat(arg)
		dir := err == nil && info.IsDir()
		add := func(file string, saved bool) {
			r := followedRun{path: file, name: nameOf(file)}
			if rel, err := filepath.Rel(arg, file); dir && err == nil {
				if first, _, below := strings.Cut(filepath.ToSlash(rel), "/"); below {
					r.name, r.path = first, filepath.Join(arg, first)
				}
			}
			i := slices.IndexFunc(runs, func(x followedRun) bool { return x.path == r.path })
			switch {
			case i < 0:
				r.files, r.saved = []string{file}, saved
				runs = append(runs, r)
			case runs[i].saved == saved:
				runs[i].files = append(runs[i].files, file)
			}
		}
		for _, file := range list.Files {
			add(file, false)
		}
		for _, f := range list.Left { // a run without captures among runs that have them
			if f.Why == summary.LeftSaved {
				others--
				add(f.Path, true)
			}
		}
	}
	slices.SortStableFunc(runs, func(a, b followedRun) int { return ingest.ComparePaths(a.path, b.path) })
	return runs, failed, others
}

// nameOf returns the name of a run by its file: that of its directory for nightly/2026-11-12/summary.json.
func nameOf(file string) string {
	base := filepath.Base(file)
	if base == "summary.json" {
		if dir := filepath.Base(filepath.Dir(file)); dir != "." && dir != string(filepath.Separator) {
			return dir
		}
	}
	name, _, _ := strings.Cut(base, ".json")
	return name
}

// load reads the run, with what the outputs need.
func (r *followedRun) load(e env, c *command, s *source, outputs ...output) (*summary.Summary, error) {
	s.outputs = outputs
	in, err := s.open(e, c, r.files)
	if err != nil {
		return nil, err
	}
	in.sums = true
	sum, unread := in.merged()
	if sum == nil && len(unread) == 0 {
		unread = []error{fmt.Errorf("%s: no input", r.path)}
	}
	return sum, errors.Join(unread...)
}

// followed reads all runs, one after the other, and returns their history. Of each, only the metrics are
// kept. The runs beside a change are read again, with what the outputs in causes need. It also returns the files
// of its runs, in its order.
func followed(e env, c *command, s *source, args []string, gates []gate.Gate, causes ...output) (*history.History, []followedRun, error) {
	s.measures = measuresOf(gates)
	found, failed, others := runsIn(args, s.own)
	if others > 0 {
		e.say("assay %s: skipped %s", c.name, plural(others, "file of no known format", "files of no known format"))
	}
	var runs []history.Run
	var kept []followedRun
	var copies []string
	seen := map[string]bool{}
	for _, r := range found {
		sum, err := r.load(e, c, s, checkFileOutput)
		if err != nil {
			failed = append(failed, err)
		}
		if sum == nil {
			continue
		}
		id := history.Identity(sum)
		if id != "" && seen[id] {
			copies = append(copies, r.name)
			continue
		}
		seen[id] = true
		at := history.Recorded(sum)
		grouped := gate.Runs([]*summary.Summary{sum})
		if len(grouped) == 0 {
			failed = append(failed, fmt.Errorf("%s: the input has no run", r.path))
			continue
		}
		runs = append(runs, history.Run{Name: r.name, Path: r.path, Time: at, Values: grouped[0].Measure(gates, rule.DefaultThresholds())})
		kept = append(kept, r)
	}
	if len(runs) == 0 {
		return nil, nil, errors.Join(append(failed, errors.New("no run could be read"))...)
	}
	again := func(i int) (*summary.Summary, error) { return kept[i].load(e, c, s, causes...) }
	if len(causes) == 0 {
		again = nil
	}
	h := history.Of(runs, gates, again)
	h.Copies = copies
	inOrder := make([]followedRun, len(h.Runs))
	for _, r := range kept {
		inOrder[slices.IndexFunc(h.Runs, func(x history.Run) bool { return x.Path == r.path })] = r
	}
	return h, inOrder, errors.Join(failed...)
}

// mostStable is the largest number of runs that a check compares with: the newest.
const mostStable = 20

// stable returns the runs since the last change as the baseline of a check, without those that are checked.
func (k *checking) stable(e env, c *command, args []string, gates []gate.Gate) (base gate.Group, failed error) {
	checked := map[string]bool{}
	for _, path := range ingest.Paths(args).Files {
		if abs, err := filepath.Abs(path); err == nil {
			checked[abs] = true
		}
	}
	isChecked := func(file string) bool {
		abs, err := filepath.Abs(file)
		return err == nil && checked[abs]
	}
	follow := slices.DeleteFunc(slices.Clone(gates), func(g gate.Gate) bool { return g.Metric.Across || !g.NeedsBaseline() })
	h, runs, failed := followed(e, c, &k.source, []string{k.history}, follow)
	if h == nil {
		return base, failed
	}
	k.measures, k.drifts = measuresOf(gates), map[string]gate.Drift{}
	var list []*summary.Summary
	for _, r := range runs[max(h.StableFrom, len(runs)-mostStable):] {
		if slices.ContainsFunc(r.files, isChecked) {
			continue
		}
		sum, err := r.load(e, c, &k.source, checkOutput)
		if failed = errors.Join(failed, err); sum != nil {
			list = append(list, sum)
		}
	}
	for _, d := range h.Drifts {
		k.drifts[d.Metric] = gate.Drift{From: d.From, To: d.To, Text: "it " + strings.TrimPrefix(d.Text(), d.Metric+" ")}
	}
	k.hideUsers(&list)
	for _, sum := range list {
		if of := gate.Runs([]*summary.Summary{sum}); len(of) > 0 {
			base.Runs = append(base.Runs, of[0])
		}
	}
	text := plural(len(base.Runs), "run", "runs")
	if n := len(h.Changes); n > 0 {
		text += fmt.Sprintf(" since the last change (%s)", h.ChangeText(&h.Changes[n-1]))
	}
	e.say("assay check: compared with the newest %s, of %d in %s", text, len(h.Runs), k.history)
	return base, failed
}
