package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/analyze/critical/change"
	"assay/analyze/whatif"
	"assay/ingest"
	"assay/ingest/partial"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/internal/outfile"
	"assay/internal/redact"
	"assay/internal/unit"
	"assay/summary"
	"assay/trace/window"
)

func whatifCommand() *command {
	return &command{
		name: "whatif", args: "[INPUT...] [CHANGE...]",
		does: "what the critical path of a step is made of, and how long the step would take after a change",
		example: `  assay whatif trace.json.gz
  assay whatif trace.json.gz --host 2x
  assay whatif trace.json.gz --scale kernel~flash_bwd=0.5 --remove sync~item
  assay whatif traces/ --hide-comm reduce_scatter --sweep
`,
		run: runWhatif,
	}
}

// asking has the flags of the whatif command.
type asking struct {
	source
	ranks, format string
	measured      string
	given         int64  // ns; of measured, or of a log
	givenBy       string // the path of the log
	sweep, all    bool
	changes       []change.Change

	chosen []int // ranks; nil for all
	part   excerpting
}

// A changeFlag collects the changes of one kind, in the order of the command line.
type changeFlag struct {
	change.Kind
	to *[]change.Change
}

func (f changeFlag) String() string { return "" }
func (f changeFlag) Type() string   { return f.Value }

func (f changeFlag) Set(value string) error {
	c := change.Change{Kind: f.Name, Value: redact.Mask(value)} // as the names of the trace are
	if err := c.Check(); err != nil {
		return err
	}
	*f.to = append(*f.to, c)
	return nil
}

// withValues joins the flags of changes whose value may be left out with the argument that follows,
// unless that is a flag or an input.
func withValues(args []string) (out []string) {
	for i := 0; i < len(args); i++ {
		k := slices.IndexFunc(change.Kinds, func(k change.Kind) bool { return k.Optional && args[i] == "--"+k.Name })
		if k < 0 {
			out = append(out, args[i])
			continue
		}
		value := ""
		if i+1 < len(args) && change.Kinds[k].Value != "" && !strings.HasPrefix(args[i+1], "-") {
			if _, err := os.Stat(args[i+1]); err != nil {
				i++
				value = args[i]
			}
		}
		out = append(out, "--"+change.Kinds[k].Name+"="+value)
	}
	return out
}

func runWhatif(e env, c *command, args []string) error {
	var x asking
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	for _, k := range change.Kinds {
		flags.Var(changeFlag{k, &x.changes}, k.Name, k.Does)
	}
	flags.BoolVar(&x.sweep, "sweep", false, "try single changes, and list those that pay most (without a change this is done anyway)")
	flags.BoolVar(&x.all, "all", false, "every step, not a typical one only")
	flags.StringVar(&x.measured, "measured", "", "the `TIME` of a step without the profiler, such as 16.4ms: forecasts are without the time that recording takes")
	flags.StringVar(&x.ranks, "rank", "", "`RANKS` to answer for, for example 0,3,5-7 (default: all)")
	whatifFormats(false).flag(flags, &x.format)
	x.part.register(flags)
	x.register(flags)
	x.window.registerTime(flags, "to")
	args, err := parse(e, c, flags, withValues(args))
	if err != nil {
		return err
	}
	if wrong := x.part.check(flags, x.format, "whatif"); wrong != "" {
		return usageError(e, c, wrong)
	}
	if x.measured != "" {
		if x.given, err = unit.ParseDuration(x.measured); err != nil || x.given <= 0 {
			return usageError(e, c, fmt.Sprintf("--measured is %q; write the time of a step, such as 16.4ms", x.measured))
		}
	}
	if x.ranks != "" {
		var ok bool
		if x.chosen, ok = window.ParseNumbers(x.ranks); !ok {
			return usageError(e, c, fmt.Sprintf("--rank is %q, want ranks as in 0,3,5-7", x.ranks))
		}
	}
	if len(args) == 0 {
		if isTerminal(e.stdin) {
			return usageError(e, c, "no input: name a trace, or pipe one in")
		}
		args = []string{ingest.Stdin}
	}
	x.outputs = []output{eventOutput}
	var temp outfile.Registry
	defer temp.Close()
	r, err := x.open(e, c, args)
	if err != nil {
		return err
	}
	inputs, failed := x.inputs(r)
	if len(inputs) == 0 {
		if len(failed) == 0 {
			failed = []error{errors.New("no input has a rank that --rank asks for")}
		}
		return errors.Join(failed...)
	}
	answer, err := whatif.Of(inputs, whatif.Question{Changes: x.changes, Sweep: x.sweep || len(x.changes) == 0, Given: x.given, GivenBy: x.givenBy, Ranks: x.chosen, Rules: r.rules, Phases: r.phases})
	if err != nil {
		return errors.Join(append(failed, err)...)
	}
	if err := e.print(x.part.part(whatifFormats(x.all).named(x.format).render(mask(answer)))); err != nil {
		return err
	}
	return errors.Join(failed...)
}

// inputs reads the traces of the ranks.
func (x *asking) inputs(r *reading) (out []whatif.Input, failed []error) {
	all, errs, logged := make([]*whatif.Input, len(r.paths)), make([]error, len(r.paths)), make([]int64, len(r.paths))
	failed = r.all(func(i int, in *ingest.Input) {
		if logged[i] = stepOf(in); logged[i] == 0 {
			all[i], errs[i] = x.input(r, i, in)
		}
	})
	for i, ns := range logged {
		if ns > 0 && x.given == 0 {
			x.given, x.givenBy = ns, r.paths[i]
		}
	}
	for _, in := range present(all) {
		out = append(out, *in)
	}
	slices.SortStableFunc(out, func(a, b whatif.Input) int { return a.Rank - b.Rank })
	return out, append(failed, notNil(errs)...)
}

// fewSteps are too few steps of a log to tell how long a step takes.
const fewSteps = 5

// stepOf returns how long a step takes in a log, in ns: the median of the slowest rank, or 0.
func stepOf(in *ingest.Input) (ns int64) {
	if in.Trace != nil || in.Series == nil {
		return 0
	}
	for i := range in.Series.Series {
		s := &in.Series.Series[i]
		if s.Metric.Name == "step.time" && len(s.Points.Value) >= fewSteps {
			all := slices.Sorted(slices.Values(s.Points.Value))
			ns = max(ns, int64(all[len(all)/2]))
		}
	}
	return ns
}

// input returns one input, or nil if --rank leaves it out.
func (x *asking) input(r *reading, i int, in *ingest.Input) (*whatif.Input, error) {
	if in.Trace == nil {
		return nil, fmt.Errorf("%s: the input has no timeline; give a trace in Chrome JSON or an export of Nsight Systems", in.Path)
	}
	if x.chosen != nil && !slices.Contains(x.chosen, in.Rank) && len(r.paths) > 1 { // one capture may have processes that are ranks
		return nil, nil
	}
	out := &whatif.Input{Trace: in.Trace, Index: i, Rank: in.Rank, Path: in.Path}
	if r.window != nil {
		opt := partial.Options{Options: r.options(in).Options, Window: r.window, Steady: steady}
		part, err := opt.StretchOf(in.Trace, summary.Input{Path: in.Path, Rank: in.Rank})
		if err != nil {
			return nil, diag.PathOnly(err)
		}
		out.Part = interval.Span{Start: part.Start, End: part.End}
	}
	return out, nil
}
