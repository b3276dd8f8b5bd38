package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/analyze"
	"assay/gate"
	"assay/gate/baseline"
	"assay/gate/metric"
	"assay/ingest"
	"assay/internal/diag"
	"assay/internal/outfile"
	"assay/internal/settings"
	"assay/judge/rule"
	"assay/report/check"
	"assay/report/doc"
)

func checkCommand() *command {
	return &command{
		name: "check", args: "INPUT... [--baseline B]",
		does: "check a run against targets and a baseline (CI); exit status 1 if a gate fails",
		example: `  assay check run.json.gz --gates gates.yaml
  assay check train.log --gates skyrl
  assay check new/ --baseline base/summary.json --gates gates.yaml
  assay check new1/ new2/ new3/ new4/ new5/ --baseline base1/ base2/ base3/ base4/ base5/
  assay check new/ --baseline perf-baseline/ --format junit > junit.xml
  assay check --explain comm.busbw

Inputs are those of "assay summary", and summaries that assay wrote. A run has one
capture per rank; a second capture of a rank starts another run. For gates, see "assay
help gates". Exit status: 0 all gates pass, 1 a gate failed, 3 a gate could not be
evaluated or an input could not be read.
`,
		run: runCheck,
	}
}

// errGate ends a command whose gates failed. The report lists them.
var errGate = errors.New("a gate failed")

// checking has the flags of the check command.
type checking struct {
	source
	baseline       []string
	history        string // a directory of runs; the baseline is those since the last change
	drifts         map[string]gate.Drift
	gates          string
	explain        string // a metric
	format, dir    string
	onInconclusive string
	stated         stating
	allowExpired   bool
	part           excerpting
}

func (k *checking) flags(name string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringArrayVarP(&k.baseline, "baseline", "b", nil, "`INPUT`... of the baseline, up to the next flag; a directory of \"assay accept\" means its latest entry")
	flags.StringVar(&k.history, "history", "", "instead of a baseline, compare with the runs in `DIR` since the last change of the gates' metrics (\"assay history\")")
	flags.StringVarP(&k.gates, "gates", "g", "", "YAML `FILE` of gates, or a guide whose targets are built in: "+series(rule.Guides(), ", ")+" (default, with a baseline: the gates of \"assay help gates\")")
	flags.StringVar(&k.explain, "explain", "", "explain `METRIC` (meaning, unit, selectors, examples) and check nothing")
	checkFormats().flag(flags, &k.format)
	flags.StringVarP(&k.dir, "output", "o", "", "`DIR` for "+series(checkFormats().files(), " and ")+"; created if missing")
	choose(flags, &k.onInconclusive, "on-inconclusive", "", "", "`RESULT` of inconclusive gates: %s (default: warn for noise, exit status 3 for captures)", only("fail", "warn", "pass"))
	flags.BoolVar(&k.allowExpired, "allow-expired", false, "compare with an accepted baseline although hardware or software differ")
	k.part.register(flags)
	k.stated.register(flags)
	k.register(flags)
	k.window.register(flags)
	k.peaks.register(flags)
	return flags
}

// spread repeats --baseline before every name that follows it. A shell expands a pattern
// to many names, and without spread the second name would count as a new run.
func spread(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		out = append(out, args[i])
		if args[i] != "--baseline" && args[i] != "-b" {
			continue
		}
		out = out[:len(out)-1]
		names := 0
		for i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
			names++
			out = append(out, "--baseline="+args[i])
		}
		if names == 0 {
			out = append(out, "--baseline") // pflag says what is wrong
		}
	}
	return out
}

// parse reads the flags. If there are two names after --baseline and no other, the second
// is the input.
func (k *checking) parse(e env, c *command, args []string) ([]string, error) {
	flags := k.flags(c.name)
	args, err := parse(e, c, flags, spread(args))
	if err != nil {
		return nil, err
	}
	document := "check"
	if k.explain != "" {
		document = "metric"
	}
	if wrong := k.part.check(flags, k.format, document); wrong != "" {
		return nil, usageError(e, c, wrong)
	}
	if k.explain != "" {
		return nil, k.checkExplain(e, c, args)
	}
	if len(args) == 0 && len(k.baseline) == 2 {
		args, k.baseline = k.baseline[1:], k.baseline[:1]
	}
	switch {
	case len(args) == 0 && len(k.baseline) > 0:
		return nil, usageError(e, c, "no input: all names after --baseline belong to the baseline; put the inputs before it")
	case len(args) == 0:
		return nil, usageError(e, c, "no input: name a trace, a directory of traces, a summary that assay wrote, or \"-\" for standard input")
	case k.history != "" && len(k.baseline) > 0:
		return nil, usageError(e, c, "--history and --baseline both say what to compare with; give one of them")
	case k.gates == "" && len(k.baseline) == 0 && k.history == "":
		return nil, usageError(e, c, "no gates: give --gates FILE, --baseline INPUT or --history DIR")
	case flags.Changed("gates") && k.gates == "":
		return nil, usageError(e, c, "--gates is empty, want a file")
	}
	return args, nil
}

func runCheck(e env, c *command, args []string) error {
	var k checking
	args, err := k.parse(e, c, args)
	if err != nil {
		return err
	}
	if k.explain != "" {
		return k.explainMetric(e, c)
	}
	if k.dir != "" {
		if err := keepInputs(e, c, "result", k.dir, checkFormats().files(), slices.Concat(args, k.baseline, k.settings(), []string{k.gates})); err != nil {
			return err
		}
	}
	gates, err := k.loadGates()
	if err != nil {
		return err
	}
	var failed error
	var base gate.Group
	if k.history != "" {
		if base, failed = k.stable(e, c, args, gates); len(base.Runs) == 0 {
			return cannotCheck(failed)
		}
	}
	k.measures = measuresOf(gates)
	k.outputs = []output{checkOutput, checkFormats().named(k.format).needs}
	if k.dir != "" || inGitHub() {
		k.outputs = append(k.outputs, checkFileOutput)
	}
	now, nowFailed := loadRuns(e, c, &k.source, args)
	if failed = errors.Join(failed, nowFailed); len(now.Runs) == 0 {
		return cannotCheck(failed)
	}
	if len(k.baseline) > 0 {
		var baseFailed error
		if base, baseFailed = loadRuns(e, c, &k.source, k.baseline); len(base.Runs) == 0 {
			return cannotCheck(baseFailed)
		}
		failed = errors.Join(failed, baseFailed)
	}
	if k.peaks.given() && !k.measures.Has(analyze.Efficiency) {
		e.say("assay check: no gate uses the peaks of GPUs, so --peaks, --set-peak and --model-flops change nothing")
	} else {
		k.peaks.warn(e, c)
	}
	accepted, expired, err := k.accepted(e, c, now.Runs, base.Runs)
	if err != nil {
		return err
	}
	result, err := gate.Check(gates, now.Runs, base.Runs, gate.Options{Thresholds: rule.DefaultThresholds(), Expired: expired, Drifts: k.drifts})
	if err != nil {
		return err
	}
	checked := mask(check.Report{Version: version(), GatesFile: k.gates, Inconclusive: k.counts, New: now, Baseline: base, Accepted: accepted, Report: result})
	if err := k.write(e, checked); err != nil {
		return errors.Join(failed, fmt.Errorf("cannot write the result: %w", diag.PathOnly(err)))
	}
	return k.status(e, c, checked.value, failed)
}

// accepted returns the accepted baselines. If one has expired, it also returns the reason why gates
// do not compare with it, and warns, because an expired baseline checks nothing until somebody
// accepts another.
func (k *checking) accepted(e env, c *command, now, base []gate.Run) (out []check.Accepted, expired string, err error) {
	from, err := k.stated.provenance(summaries(now)...)
	if err != nil {
		return nil, "", usageError(e, c, err.Error())
	}
	dirs := slices.DeleteFunc(slices.Clone(k.baseline), func(name string) bool { return name == ingest.Stdin })
	list, err := baseline.Acceptances(dirs, summaries(base), from)
	for _, a := range mask(list).value {
		was := check.Accepted{Text: a.Text()}
		if a.Expired != nil {
			was.Expired = fmt.Sprintf("the baseline in %s of %s has expired: %s", a.Dir, a.Time, strings.Join(a.Expired, "; "))
			then := "accept a new run, or compare anyway with --allow-expired"
			if k.allowExpired {
				then = "compared anyway"
			} else {
				expired = fmt.Sprintf("the baseline in %s has expired", a.Dir)
			}
			e.say("assay check: %s; %s", was.Expired, then)
		}
		out = append(out, was)
	}
	return out, expired, err
}

// checkExplain returns a usage error if --explain is given together with arguments or flags that it
// does not use.
func (k *checking) checkExplain(e env, c *command, args []string) error {
	switch {
	case len(args)+len(k.baseline) > 0 || k.gates != "":
		return usageError(e, c, "--explain takes no inputs, baseline or gates")
	case metricFormats().named(k.format).name == "":
		return usageError(e, c, fmt.Sprintf("--format is %q, with --explain want %s", k.format, either(names(metricFormats().words()))))
	}
	return nil
}

func (k *checking) explainMetric(e env, c *command) error {
	page, err := metric.Explain(k.explain)
	if err != nil {
		return usageError(e, c, err.Error())
	}
	return e.print(k.part.part(metricFormats().named(k.format).render(mask(check.Explanation{Page: page}))))
}

func cannotCheck(err error) error {
	if err == nil {
		return errors.New("the inputs have nothing to check")
	}
	return err
}

func (k *checking) loadGates() ([]gate.Gate, error) {
	if k.gates == "" {
		return gate.Default(), nil
	}
	if _, err := os.Stat(k.gates); err != nil && gate.IsGuide(k.gates) {
		return gate.Parse([]byte(gate.Guide(k.gates)), k.gates)
	}
	return settings.Load(k.gates, gate.Parse)
}

// counts returns the result that an inconclusive gate counts as. By default noise is a warning,
// because it varies from run to run, and an unsuitable capture is an error, because nothing was
// evaluated.
func (k *checking) counts(o gate.Outcome) gate.Result {
	switch k.onInconclusive {
	case "fail":
		return gate.Fail
	case "warn":
		return gate.Warn
	case "pass":
		return gate.Pass
	}
	if o.Capture {
		return gate.Error
	}
	return gate.Warn
}

// write writes all requested outputs. If one fails, it writes the others and returns the
// error.
func (k *checking) write(e env, c masked[check.Report]) error {
	var errs []error
	if k.dir != "" {
		errs = append(errs, writeCheck(k.dir, c))
	}
	if inGitHub() {
		errs = append(errs, appendStepSummary(c.value), setOutputs(c))
	}
	errs = append(errs, buffered(e.stdout, e.shown(k.part.part(checkFormats().named(k.format).render(c)))))
	if inGitHub() {
		for _, line := range c.value.Annotations() {
			e.say("%s", line)
		}
	}
	return errors.Join(errs...)
}

// writeCheck writes one file to dir for each format of checkFormats that has a file name.
func writeCheck(dir string, c masked[check.Report]) error {
	out := newWriter()
	defer out.stop()
	if err := out.dir(dir); err != nil {
		return err
	}
	for _, f := range slices.Backward(checkFormats()) { // the report for people appears last
		if f.file == "" {
			continue
		}
		if err := out.stage(filepath.Join(dir, f.file), c.as(f.write)); err != nil {
			return err
		}
	}
	return out.commit()
}

// appendStepSummary adds the result to the step summary of a GitHub workflow. GitHub limits the
// size of the whole file, so the text that the step wrote earlier reduces the space for the result.
func appendStepSummary(c check.Report) error {
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	return outfile.Append(path, func(w io.Writer, size int64) error {
		text := c.StepSummary(int(max(0, doc.StepSummaryLimit-size-1)))
		if text == "" {
			return nil
		}
		_, err := io.WriteString(w, "\n"+text) // the existing text may end without a line break
		return err
	})
}

// status returns the error for the exit status. A failed gate has priority over other
// errors.
func (k *checking) status(e env, c *command, r check.Report, failed error) error {
	failures, bad := r.Count(gate.Fail), r.Count(gate.Error)
	for _, o := range r.Outcomes {
		if o.Result == gate.Inconclusive {
			switch k.counts(o) {
			case gate.Fail:
				failures++
			case gate.Error:
				bad++
			}
		}
	}
	if failures > 0 {
		if failed != nil {
			exitStatus(e, c, failed)
		}
		e.say("assay check: %s", r.Title())
		return errGate
	}
	switch {
	case bad > 0:
		return errors.Join(failed, fmt.Errorf("%s could not be evaluated; this counts as an error (exit status 3)", plural(bad, "gate", "gates")))
	case r.Result == gate.Skipped:
		return errors.Join(failed, errors.New("no gate could be evaluated, because neither side has any of their metrics; set gates on what the inputs have (--gates, \"assay help gates\")"))
	}
	return failed
}
