package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"assay/gate/baseline"
	"assay/internal/diag"
	"assay/internal/outfile"
	"assay/judge"
	"assay/judge/rule"
	"assay/report"
	"assay/summary"
)

func acceptCommand() *command {
	return &command{
		name: "accept", args: "INPUT... --baseline DIR",
		does: "make a run the new baseline in DIR and record the reason",
		example: `  assay accept new/ --baseline perf-baseline/ --reason "fused optimizer, 3 % faster"
  assay accept train.log --baseline perf-baseline/ --reason "first" --hardware GPU="NVIDIA H100" --software torch=2.9.0
  assay check next/ --baseline perf-baseline/

The record in DIR (accepted.jsonl) keeps the reason, the date, and the provenance of the run:
GPUs and versions of software, from its captures and the flags, and its command. A
baseline expires: against a run with other hardware or other versions, "assay check"
evaluates no comparison and ends with exit status 3.
`,
		run: runAccept,
	}
}

func runAccept(e env, c *command, args []string) error {
	var s source
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	dir := flags.StringP("baseline", "b", "", "`DIR` of baselines; created if missing")
	reason := flags.String("reason", "", "`TEXT` of the reason")
	made := flags.String("command", "", "`TEXT` of the command that made the run")
	var stated stating
	stated.register(flags)
	s.register(flags)
	s.peaks.register(flags)
	args, err := parse(e, c, flags, args)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return usageError(e, c, "no input: name a trace, a directory of traces, or a summary that assay wrote")
	case *dir == "":
		return usageError(e, c, "no --baseline: name the directory of baselines")
	case strings.TrimSpace(*reason) == "":
		return usageError(e, c, "no --reason: give the reason why this run is the new baseline")
	}
	if err := outfile.CheckDir(*dir); err != nil {
		return fmt.Errorf("cannot write the baseline: %w", diag.PathOnly(err))
	}
	if _, err := stated.provenance(); err != nil {
		return usageError(e, c, err.Error())
	}
	s.outputs = []output{jsonOutput}
	list, err := loadSummaries(e, c, &s, args, true)
	if err != nil {
		return err // a baseline needs the whole run
	}
	s.peaks.warn(e, c)
	for _, sum := range list {
		if n := sum.RolledUpInputs(); n > 0 && len(list) > 1 {
			return fmt.Errorf("a summary that is rolled up has sums of %d of its inputs and cannot be joined with others; accept it alone, or give the traces, or summaries saved with --full", n)
		}
	}
	from, err := stated.provenance(list...)
	if err != nil {
		return err
	}
	from.Command = *made
	s.hideUsers(&from)
	sum := summary.Join(list...)
	name, err := accept(e, *dir, sum, baseline.Decision{Reason: *reason, Provenance: &from})
	if err != nil {
		return fmt.Errorf("cannot write the baseline: %w", diag.PathOnly(err))
	}
	e.say("%s is now the baseline in %s", name, *dir)
	if from.Empty() {
		e.say("assay accept: the inputs state neither hardware nor versions of software, so the baseline cannot expire; state them with --hardware and --software")
	}
	return nil
}

// accept saves a summary in dir, appends the decision d to the record of that directory, and
// returns the name of the summary's file. Processes that accept at the same time wait for each
// other, so that each decision names the previous one.
func accept(e env, dir string, sum *summary.Summary, d baseline.Decision) (name string, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	// The record is created after the summary is saved, so that a full disk leaves no empty
	// record. A damaged record ends the command before that.
	if _, _, err := baseline.Latest(dir); err != nil {
		return "", err
	}
	if name, err = saveSummary(dir, mask(report.Overview(sum, judge.Judge(sum, rule.DefaultThresholds())))); err != nil {
		return "", err
	}
	rec, err := baseline.Open(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, rec.Close()) }()
	if rec.Cut != "" {
		e.say("assay accept: %s; the line is removed", rec.Cut)
	}
	d.Time, d.Accepted, d.Assay, d.Inputs, d.Previous = time.Now().UTC().Format(time.RFC3339), name, version(), []string{}, rec.Last.Accepted
	for _, in := range sum.Inputs {
		d.Inputs = append(d.Inputs, in.SHA256)
	}
	return name, rec.Add(mask(d).value)
}

// saveSummary writes a summary and the version of assay to a file in dir and returns the file's
// name. The name is derived from the content, so that accepting the same run twice does not leave
// two files.
func saveSummary(dir string, doc masked[report.Report]) (string, error) {
	var text bytes.Buffer
	if err := doc.value.MadeBy(version()).JSON(&text); err != nil {
		return "", err
	}
	sum := sha256.Sum256(text.Bytes())
	name := hex.EncodeToString(sum[:8]) + ".json"
	out := newWriter()
	defer out.stop()
	if err := out.dir(dir); err != nil {
		return "", err
	}
	return name, out.file(filepath.Join(dir, name), doc.as(func(_ report.Report, w io.Writer) error {
		_, err := w.Write(text.Bytes())
		return err
	}))
}
