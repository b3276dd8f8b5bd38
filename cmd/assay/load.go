package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"assay/analyze"
	"assay/classify"
	"assay/diag"
	"assay/internal/ingest"
	"assay/internal/yamltree"
	"assay/judge"
	"assay/phase"
	"assay/summary"
	"assay/unit"
)

// A source holds the flags that all commands which read inputs share.
type source struct {
	rules, phases       string
	jobs                int
	maxMemory, maxInput string        // sizes
	redact              bool          // names of users are hidden; secrets are in any case
	scan                bool          // inputs are searched for secrets
	exportTime          time.Duration // that nsys or ncu may take for a report
	noDigest            bool          // what is printed does not have the SHA-256 of inputs
}

func (s *source) register(flags *pflag.FlagSet) {
	flags.StringVar(&s.rules, "rules", "", "YAML `FILE` with kernel rules that are tried before the built-in ones")
	flags.StringVar(&s.phases, "phases", "", "YAML `FILE` with names of steps and phases that are tried before the built-in ones")
	flags.IntVar(&s.jobs, "jobs", 0, "read at most `N` inputs at a time (default: as many as there are cores, within some 600 MB)")
	flags.StringVar(&s.maxMemory, "max-memory", "", "`SIZE` of memory within which to stay (default: 8GiB, or what the machine, its cgroup and ulimit -v allow if that is less); what does not fit is left out, and the report says so")
	flags.BoolVar(&s.redact, "redact", false, "hide names of users and addresses in what is written, too; tokens and passwords are masked in any case")
	flags.DurationVar(&s.exportTime, "export-timeout", ingest.DefaultExportTime, "`TIME` after which nsys or ncu, which export reports, are stopped")
	flags.StringVar(&s.maxInput, "max-input", "", "`SIZE` up to which each input is read, uncompressed (default: no limit, but what only a bomb inflates to)")
}

// open checks the flags and finds the inputs that the arguments name. It says
// what of them is left out.
func (s *source) open(e env, c *command, args []string) (*reading, error) {
	if s.jobs < 0 {
		return nil, usageError(e, c, fmt.Sprintf("--jobs is %d, want a number of inputs", s.jobs))
	}
	if s.exportTime < 0 {
		return nil, usageError(e, c, fmt.Sprintf("--export-timeout is %s, want a time", s.exportTime))
	}
	limits, err := s.limits()
	if err != nil {
		return nil, usageError(e, c, err.Error())
	}
	fits, by := fitted(int64(limits.memory))
	switch {
	case fits < minMemory:
		return nil, fmt.Errorf("%s allows %s, and reading takes at least %s; give it more, or read elsewhere", by, unit.Bytes(int64(fits)), unit.Bytes(minMemory))
	case by != "" && s.maxMemory != "":
		e.say("assay %s: --max-memory is %s, and %s allows %s, which is the limit", c.name, s.maxMemory, by, unit.Bytes(int64(fits)))
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
	chosen := ingest.Paths(args)
	if n := chosen.Others; n > 0 {
		e.say("assay %s: %s left out", c.name, plural(n, "file that is no trace was", "files that are no traces were"))
	}
	if n := chosen.Links; n > 0 {
		e.say("assay %s: %s not followed; name what they lead to if it is to be read", c.name, plural(n, "link in a directory was", "links in directories were"))
	}
	limits.memory.use()
	r := &reading{e: e, rules: rules, phases: phases, jobs: s.jobs, limits: limits, paths: chosen.Files, failed: chosen.Failed, needs: analyze.Needs, exportTime: s.exportTime, scan: s.scan, noDigest: s.noDigest}
	if e.stderr == io.Writer(os.Stderr) { // the command has the process to itself
		limits.memory.watch(r.outOfMemory)
	}
	return r, nil
}

// A measure holds the flags of the commands that measure and judge.
type measure struct {
	source
	thresholds string
}

func (m *measure) register(flags *pflag.FlagSet) {
	m.source.register(flags)
	flags.StringVar(&m.thresholds, "thresholds", "", "YAML `FILE` with warn and critical limits that replace the built-in ones")
}

// A verdict is everything a command shows: what was measured and what it
// means.
type verdict struct {
	summary *summary.Summary
	result  judge.Result
}

// load reads and judges the inputs. Where some cannot be read it returns the
// verdict on the others with the errors, joined; the verdict is nil if none can
// be read.
func (m *measure) load(e env, c *command, args []string) (*verdict, error) {
	thresholds, err := m.loadThresholds()
	if err != nil {
		return nil, err
	}
	r, err := m.open(e, c, args)
	if err != nil {
		return nil, err
	}
	all, failed := r.merged()
	if all == nil {
		return nil, errors.Join(failed...)
	}
	v := &verdict{summary: all}
	noteRepeatedRanks(v.summary)
	m.hide(v.summary)
	v.result = judge.Judge(v.summary, thresholds)
	return v, errors.Join(failed...)
}

// merged measures all inputs, or returns nil where none could be read.
func (r *reading) merged() (*summary.Summary, []error) {
	sums := make([]*summary.Summary, len(r.paths))
	failed := r.all(func(i int, in *ingest.Input) {
		sums[i] = r.measured(in)
	})
	sums = slices.DeleteFunc(sums, func(s *summary.Summary) bool { return s == nil })
	if len(sums) == 0 {
		return nil, failed
	}
	slices.SortFunc(r.secrets, func(a, b summary.Issue) int { return cmp.Compare(a.First, b.First) })
	return summary.Join(append(sums, &summary.Summary{Issues: r.secrets})...), failed
}

// measured returns what the model of an input says, without its secrets.
func (r *reading) measured(in *ingest.Input) *summary.Summary {
	return withoutSecrets(r.measure(in), in.Path)
}

func (r *reading) measure(in *ingest.Input) *summary.Summary {
	if in.Summary != nil {
		return in.Summary // it has inputs of its own
	}
	from := summary.Input{
		Path: in.Path, Format: in.Format, Compression: in.Compression,
		Bytes: in.Bytes, SHA256: in.SHA256, Rank: in.Rank, RankFrom: in.RankFrom,
	}
	opt := analyze.Options{Rules: r.rules, Phases: r.phases, StripBins: analyze.StripBins, MaxRows: r.limits.memory.rows()}
	switch {
	case in.Tables != nil:
		return analyze.Tables(in.Tables, from, opt)
	case in.Memory != nil:
		return analyze.Snapshot(in.Memory, from, opt)
	case in.Timeline != nil:
		return analyze.MemoryTimeline(in.Timeline, from, opt)
	case in.Counters != nil:
		return analyze.Counters(in.Counters, from, opt)
	}
	if in.Profile != nil {
		return analyze.Profile(in.Profile, from, opt)
	}
	return analyze.Trace(in.Trace, from, opt)
}

// noteRepeatedRanks says so where several inputs have the same rank: they may
// be of different runs, and figures of all devices add them up.
func noteRepeatedRanks(s *summary.Summary) {
	seen := make(map[int]string)
	for i, in := range s.Inputs {
		if isOfCounters(s, i) || isOfTables(s, i) || isOfMemory(s, i) {
			continue // nothing in it is added to devices
		}
		first, again := seen[in.Rank]
		if again && slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Code == "rank-repeated" }) {
			return // a summary has said so before
		}
		if again {
			s.Issues = append(s.Issues, summary.Issue{
				Code: "rank-repeated", Severity: diag.Suspect.String(), Count: 1, First: in.Path,
				Help: fmt.Sprintf("it has rank %d, as %s has; if they are of different runs, figures of all devices mix them: report each run by itself", in.Rank, first),
			})
			s.Sort()
			return
		}
		seen[in.Rank] = in.Path
	}
}

// isOfMemory reports whether an input is a memory snapshot or timeline. Users have
// several of one rank, and one beside its trace.
func isOfMemory(s *summary.Summary, input int) bool {
	return slices.ContainsFunc(s.Snapshots, func(m summary.Snapshot) bool { return m.Input == input }) ||
		slices.ContainsFunc(s.MemoryTimelines, func(m summary.MemoryTimeline) bool { return m.Input == input })
}

// isOfCounters reports whether an input holds counters of kernels and no
// timeline.
func isOfCounters(s *summary.Summary, input int) bool {
	return slices.ContainsFunc(s.Counters, func(c summary.Counter) bool { return c.Input == input })
}

// isOfTables reports whether an input holds tables of sums. Several of them are
// often of one run.
func isOfTables(s *summary.Summary, input int) bool {
	return slices.ContainsFunc(s.Tables, func(t summary.Table) bool { return t.Input == input })
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
	text, err := readSettings(s.rules)
	if err != nil {
		return nil, err
	}
	own, err := classify.Parse(bytes.NewReader(text), s.rules)
	if err != nil {
		return nil, err
	}
	return classify.Default().Override(own), nil
}

func (s *source) loadPhases() (*phase.Rules, error) {
	if s.phases == "" {
		return phase.Default(), nil
	}
	text, err := readSettings(s.phases)
	if err != nil {
		return nil, err
	}
	own, err := phase.Parse(bytes.NewReader(text), s.phases)
	if err != nil {
		return nil, err
	}
	return phase.Default().Override(own), nil
}

func (m *measure) loadThresholds() (judge.Thresholds, error) {
	if m.thresholds == "" {
		return judge.DefaultThresholds(), nil
	}
	text, err := readSettings(m.thresholds)
	if err != nil {
		return judge.Thresholds{}, err
	}
	return judge.ParseThresholds(bytes.NewReader(text), m.thresholds)
}

// readSettings reads a file that users write. A limit keeps a trace that is
// named in its place, or a device that never ends, from filling the memory.
func readSettings(path string) ([]byte, error) {
	const limit = yamltree.MaxBytes
	f, err := os.Open(path)
	if err != nil {
		return nil, pathOnly(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, pathOnly(err)
	case len(text) > limit:
		return nil, fmt.Errorf("%s: the file has more than %d KiB, the limit for settings; want YAML as \"assay help rules\", \"assay help phases\", \"assay help thresholds\" and \"assay help gates\" show it", path, limit>>10)
	}
	return text, nil
}
