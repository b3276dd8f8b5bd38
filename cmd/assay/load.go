package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"assay/analyze"
	"assay/classify"
	"assay/diag"
	"assay/internal/ingest"
	"assay/judge"
	"assay/summary"
	"assay/trace"
)

// A measure holds the flags that all commands which read inputs share.
type measure struct {
	rules, thresholds string
}

func (m *measure) register(flags *pflag.FlagSet) {
	flags.StringVar(&m.rules, "rules", "", "YAML `FILE` with kernel rules that are tried before the built-in ones")
	flags.StringVar(&m.thresholds, "thresholds", "", "YAML `FILE` with warn and critical limits that replace the built-in ones")
}

// A verdict is everything a command shows: what was measured and what it
// means.
type verdict struct {
	summary *summary.Summary
	result  judge.Result
}

// errIncomplete ends a command that did its work but could not read all of its
// inputs.
type errIncomplete struct{ errs []error }

func (e errIncomplete) Error() string { return errors.Join(e.errs...).Error() }

// load reads and judges the inputs. Where some cannot be read it returns the
// verdict on the others with an errIncomplete.
func (m *measure) load(e env, c *command, args []string) (*verdict, error) {
	opt := analyze.DefaultOptions()
	if err := m.loadRules(&opt); err != nil {
		return nil, err
	}
	limits, err := m.loadThresholds()
	if err != nil {
		return nil, err
	}
	paths, ignored, err := ingest.Paths(args)
	if err != nil {
		return nil, err
	}
	if ignored > 0 {
		fmt.Fprintf(e.stderr, "assay %s: %s left out\n", c.name, plural(ignored, "file that is no trace was", "files that are no traces were"))
	}
	var parts []*summary.Summary
	var failed []error
	for _, path := range paths {
		s, err := measureOne(e, path, opt)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return nil, errors.Join(failed...)
	}
	v := &verdict{summary: summary.Merge(parts...)}
	noteRepeatedRanks(v.summary)
	v.result = judge.Judge(v.summary, limits)
	if len(failed) > 0 {
		return v, errIncomplete{failed}
	}
	return v, nil
}

// noteRepeatedRanks says so where several inputs have the same rank: they may
// be of different runs, and figures of all devices add them up.
func noteRepeatedRanks(s *summary.Summary) {
	seen := make(map[int]string)
	for _, in := range s.Inputs {
		first, again := seen[in.Rank]
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

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// measureOne reads and measures one input.
func measureOne(e env, path string, opt analyze.Options) (*summary.Summary, error) {
	f, err := ingest.Open(path, e.stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	done := showProgress(e.stderr, f, path)
	in, err := ingest.Load(f, trace.SelectAll())
	done()
	if err != nil {
		return nil, err
	}
	return analyze.Trace(in.Trace, summary.Input{
		Path: in.Path, Format: in.Format, Compression: in.Compression,
		Bytes: in.Bytes, SHA256: in.SHA256, Rank: in.Rank, RankFrom: in.RankFrom,
	}, opt), nil
}

func (m *measure) loadRules(opt *analyze.Options) error {
	if m.rules == "" {
		return nil
	}
	f, err := os.Open(m.rules)
	if err != nil {
		return pathOnly(err)
	}
	defer f.Close()
	own, err := classify.Parse(f, m.rules)
	if err != nil {
		return err
	}
	opt.Rules = opt.Rules.Override(own)
	return nil
}

func (m *measure) loadThresholds() (judge.Thresholds, error) {
	if m.thresholds == "" {
		return judge.DefaultThresholds(), nil
	}
	f, err := os.Open(m.thresholds)
	if err != nil {
		return judge.Thresholds{}, pathOnly(err)
	}
	defer f.Close()
	return judge.ParseThresholds(f, m.thresholds)
}
