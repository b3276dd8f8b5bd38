package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"assay/analyze"
	"assay/analyze/classify"
	"assay/analyze/clocks"
	"assay/analyze/phase"
	"assay/analyze/roles"
	"assay/ingest"
	"assay/ingest/partial"
	"assay/internal/membudget"
	"assay/internal/settings"
	"assay/internal/unit"
	"assay/judge"
	"assay/judge/rule"
	"assay/logs/forms"
	"assay/summary"
)

// source has the flags that all commands share which read inputs.
type source struct {
	rules, phases       string
	forms               string // the file of --series-forms
	jobs                int
	maxMemory, maxInput size
	redact              bool             // hide user names too; secrets are always hidden
	outputs             []output         // outputs of the command, see [needs]
	exportTime          time.Duration    // limit for exporting one report with nsys or ncu
	rankFrom, groupBy   string           // see partial.PathRules
	window              windowing        // zero if the command does not register its flags
	clockOffsets        []string         // see clocks.Settings
	peaks               peakFlags        // zero if the command does not register its flags
	own                 []string         // files that the command writes
	watched             bool             // its memory
	measures            analyze.Measures // measured in addition to the needs of the outputs
}

// writesTo records that the command writes files to a directory, which may be an input: a later run does
// not report the files of an earlier one as left out.
func (s *source) writesTo(dir string, names []string) {
	for _, name := range names {
		s.own = append(s.own, filepath.Join(dir, name))
	}
}

func (s *source) register(flags *pflag.FlagSet) {
	flags.StringVar(&s.rules, "rules", "", "YAML `FILE` with kernel rules that are tried before the built-in ones")
	flags.StringVar(&s.phases, "phases", "", "YAML `FILE` with rules for steps and phases that are tried before the built-in ones")
	flags.StringVar(&s.rankFrom, "rank-from", "", "take ranks from `WHERE`, not from the traces: name (rank3.json), folder (rank3/), or a regular expression of the path whose one group is the rank")
	flags.StringVar(&s.groupBy, "group-by", "", "take `WHAT` as one run: folder (the files of a directory), none (all inputs), or a regular expression of the path whose one group names the run")
	flags.StringArrayVar(&s.clockOffsets, "clock-offset", nil, "add a time to the clock of an input when it is joined with others, as `INPUT=TIME` (dmon.csv=+1.5s), or state its zone (dmon.csv=UTC+02:00); INPUT is a path, a file name or a pattern; repeatable")
	flags.StringVar(&s.forms, "series-forms", "", "YAML `FILE` with forms of log lines that are tried before the built-in ones")
	flags.IntVar(&s.jobs, "jobs", 0, "read at most `N` inputs at a time (0, the default: number of cores, within about 600 MB)")
	s.maxMemory.least, s.maxInput.least = membudget.Least, 1
	flags.Var(&s.maxMemory, "max-memory", "`SIZE` limit for memory (default: 8GiB, or the limit of the machine, its cgroup and ulimit -v if that is less); data over the limit is omitted and reported as an issue")
	flags.BoolVar(&s.redact, "redact", false, "also hide user names and e-mail addresses; tokens and passwords are always masked")
	flags.DurationVar(&s.exportTime, "export-timeout", ingest.DefaultExportTime, "`TIME` limit of nsys or ncu when they export a report")
	flags.Var(&s.maxInput, "max-input", "`SIZE` limit of each input, uncompressed (default: no limit, except for decompression bombs)")
}

// settings returns the paths of the files that the flags name, "" for a flag that is not given.
func (s *source) settings() []string {
	return append(s.peaks.settings(), s.rules, s.phases, s.forms)
}

// open checks the flags and finds the inputs that the arguments name. It prints how many
// files it skips.
func (s *source) open(e env, c *command, args []string) (*reading, error) {
	if s.jobs < 0 {
		return nil, usageError(e, c, fmt.Sprintf("--jobs is %d, want a number of inputs", s.jobs))
	}
	if s.exportTime < 0 {
		return nil, usageError(e, c, fmt.Sprintf("--export-timeout is %s, want a time", s.exportTime))
	}
	limits := s.limits()
	places, err := partial.ParsePathRules(s.rankFrom, s.groupBy)
	if err != nil {
		return nil, usageError(e, c, err.Error())
	}
	part, err := s.window.request()
	if err != nil {
		return nil, usageError(e, c, err.Error())
	}
	choice, err := s.window.chosen()
	if err != nil {
		return nil, usageError(e, c, err.Error())
	}
	offsets, err := clocks.ParseSettings(s.clockOffsets)
	if err != nil {
		return nil, usageError(e, c, err.Error())
	}
	if wrong := s.peaks.check(); wrong != "" {
		return nil, usageError(e, c, wrong)
	}
	fits, by := membudget.Fitted(int64(limits.memory))
	switch {
	case fits < membudget.Least:
		return nil, fmt.Errorf("%s allows %s of memory, but reading needs at least %s; raise the limit, or use another machine", by, unit.FineBytes(int64(fits)), unit.Bytes(membudget.Least))
	case by != "" && s.maxMemory.text != "":
		e.say("assay %s: --max-memory is %s, but %s allows only %s; the lower limit applies", c.name, s.maxMemory.text, by, unit.FineBytes(int64(fits)))
	}
	limits.memory = fits
	rules, err := s.loadRules()
	if err != nil {
		return nil, err
	}
	phases, err := s.loadPhases()
	if err != nil {
		return nil, err
	}
	lines, err := s.loadForms()
	if err != nil {
		return nil, err
	}
	peaks, model, err := s.peaks.load()
	if err != nil {
		return nil, err
	}
	floor, err := s.peaks.loadFloor()
	if err != nil {
		return nil, err
	}
	chosen := ingest.Paths(args)
	chosen.Disregard(s.own)
	if err := offsets.Check(chosen.Files); err != nil {
		return nil, usageError(e, c, err.Error())
	}
	if n := chosen.Others; n > 0 {
		e.say("assay %s: skipped %s", c.name, plural(n, "file of no known format", "files of no known format"))
	}
	if n := chosen.Links; n > 0 {
		e.say("assay %s: skipped %s; to read them, name their targets", c.name, plural(n, "symbolic link in a directory", "symbolic links in directories"))
	}
	if text := specialFiles(chosen.Special); text != "" {
		e.say("assay %s: %s", c.name, text)
	}
	limits.memory.Use()
	need := needsOf(s.outputs...)
	need.measures |= s.measures
	if floor != nil {
		need.measures |= analyze.Efficiency
	}
	if c.needs != nil {
		need = c.needs(need)
	}
	r := &reading{e: e, rules: rules, phases: phases, forms: lines, jobs: s.jobs, limits: limits, paths: chosen.Files, failed: chosen.Failed, need: need, needs: need.reads, alike: sameSize(chosen.Files), sampled: ingest.Sampled(chosen.Files), roles: roles.Named(chosen.Files), exportTime: s.exportTime, places: places, window: part, choice: choice, clocks: offsets, skipped: chosen.Left, peaks: peaks, model: model, floor: floor, flags: &s.peaks}
	if e.stderr == io.Writer(os.Stderr) && !s.watched { // the command has the process to itself
		s.watched = true
		limits.memory.Watch(r.outOfMemory)
	}
	return r, nil
}

// specialFiles returns a message that names the first of the files that were skipped
// because they are not regular, or "" if there are none.
func specialFiles(paths []string) string {
	const shown = 3
	if len(paths) == 0 {
		return ""
	}
	text := "skipped " + plural(len(paths), "pipe, socket or device", "pipes, sockets or devices") + ": " + strings.Join(paths[:min(shown, len(paths))], ", ")
	if more := len(paths) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + "; to read a pipe, name it"
}

// measure has the flags of the commands that measure and judge.
type measure struct {
	source
	thresholds string
	price      priceFlags
	save       string // the directory for partials; "" for none
}

func (m *measure) register(flags *pflag.FlagSet) {
	m.source.register(flags)
	m.price.register(flags)
	flags.StringVar(&m.thresholds, "thresholds", "", "YAML `FILE` with limits that replace the built-in ones")
}

// settings returns the paths of the files that the flags name, "" for a flag that is not given.
func (m *measure) settings() []string { return append(m.source.settings(), m.thresholds) }

// verdict is the summary of the inputs with the result of judging it.
type verdict struct {
	summary *summary.Summary
	result  judge.Result
}

// load reads and evaluates the inputs. It returns the verdict on the inputs that could be
// read, or nil if there are none, and the joined errors of the others.
func (m *measure) load(e env, c *command, args []string) (*verdict, error) {
	thresholds, err := m.loadThresholds()
	if err != nil {
		return nil, err
	}
	if wrong := m.price.check(); wrong != "" {
		return nil, usageError(e, c, wrong)
	}
	r, err := m.open(e, c, args)
	if err != nil {
		return nil, err
	}
	r.save = m.save != ""
	all, failed := r.measureAll()
	if len(all) == 0 {
		return nil, errors.Join(failed...)
	}
	if m.save != "" {
		if err := m.saveParts(e, all); err != nil {
			return nil, errors.Join(append(failed, err)...)
		}
	}
	m.peaks.warn(e, c)
	v := &verdict{summary: r.joined(all)}
	m.price.add(v.summary)
	partial.NoteRepeatedRanks(v.summary)
	m.hide(v.summary)
	v.result = judge.Judge(v.summary, thresholds)
	return v, errors.Join(failed...)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (s *source) loadRules() (*classify.Rules, error) {
	if s.rules == "" {
		return classify.Default(), nil
	}
	own, err := settings.Load(s.rules, classify.Parse)
	if err != nil {
		return nil, err
	}
	return classify.Default().Override(own), nil
}

func (s *source) loadPhases() (*phase.Rules, error) {
	if s.phases == "" {
		return phase.Default(), nil
	}
	own, err := settings.Load(s.phases, phase.Parse)
	if err != nil {
		return nil, err
	}
	return phase.Default().Override(own), nil
}

// loadForms returns nil if the built-in forms are used.
func (s *source) loadForms() (*forms.Set, error) {
	if s.forms == "" {
		return nil, nil
	}
	own, err := settings.Load(s.forms, forms.Parse)
	if err != nil {
		return nil, err
	}
	return forms.Default().With(own), nil
}

func (m *measure) loadThresholds() (rule.Thresholds, error) {
	if m.thresholds == "" {
		return rule.DefaultThresholds(), nil
	}
	return settings.Load(m.thresholds, rule.ParseThresholds)
}
