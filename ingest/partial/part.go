package partial

import (
	"assay/analyze"
	"assay/analyze/clocks"
	"assay/analyze/ranks"
	"assay/analyze/ranks/collective"
	"assay/analyze/samples"
	"assay/ingest"
	"assay/internal/diag"
	"assay/internal/profile"
	"assay/internal/redact"
	"assay/summary"
	"assay/trace"
	"assay/trace/window"
)

// A Part is the result of measuring one input: a summary with one or more inputs, and the
// collectives of its GPUs, which are kept until ranks are compared. The summary is nil if
// the input could not be read.
type Part struct {
	Summary *summary.Summary
	Members []ranks.Member
	Track   *clocks.Track // nil if the input has no times, and for saved parts

	launching *samples.Capture // what a join with samples needs; nil if no input has samples
	samples   []profile.Timed  // of a sampler

	ready  *ready // what its critical path is made from; nil if it is not wanted, or made
	saved  bool   // it was read from the file of a saved part
	path   string // the file of the summary that it was read from, while it is unchanged; or ""
	name   string // name of the file of a saved or encoded part, without ".json.gz"
	halved int    // number of times that the resolution of its strips was halved
}

// Options are the options for measuring inputs.
type Options struct {
	analyze.Options
	// Alone means that the input is not compared with others and not saved. The
	// collectives of a single GPU are then not needed.
	Alone bool
	// Run and RunFrom are set in the input: see [summary.Input].
	Run, RunFrom string
	// Window is the part of a timeline that is measured, nil for the whole. Steady reports
	// for each step of a summary whether it is neither warm-up nor partial.
	Window *window.Request
	// Work selects the GPUs and streams whose work is measured.
	Work   trace.Work
	Steady func(*summary.Summary) []bool
	// Clock has the user's settings for the clock of the input.
	Clock clocks.Setting
	// Paths asks for critical paths and forecasts; MostEvents is the number of events of a trace up to which
	// they are made.
	Paths      bool
	MostEvents int64
	// Sampled reports whether an input has samples of CPU code, which name functions in the idle time of traces.
	Sampled bool
	// Memory is the limit for the collectives of a saved part, in bytes.
	Memory int64
}

// Measure measures an input, or returns a saved part with its collectives. Secrets in the
// result are masked. This is done before parts are joined, so that names that differ only in
// a secret become equal.
func Measure(in *ingest.Input, opt Options) (Part, error) {
	if err := opt.withoutFirst(in); err != nil {
		return Part{}, err
	}
	if in.Summary != nil {
		p, err := read(in, opt)
		if err != nil {
			return p, err
		}
		return p.withoutSecrets(in), nil
	}
	var p Part
	var err error
	if p.Summary, err = p.measure(in, opt); err != nil {
		return Part{}, err
	}
	if opt.Alone {
		addPaths(p.Summary, []*ready{p.ready})
		p.ready = nil
	}
	p.bound()
	p = p.withoutSecrets(in)
	p.track(in, opt)
	return p, nil
}

func (p *Part) measure(in *ingest.Input, opt Options) (*summary.Summary, error) {
	from := summary.Input{
		Run: opt.Run, RunFrom: opt.RunFrom,
		Path: in.Path, Format: in.Format, Compression: in.Compression,
		Bytes: in.Bytes, SHA256: in.SHA256, Rank: in.Rank, RankFrom: in.RankFrom,
	}
	if in.Trace != nil && in.Trace.Meta.WorldSize != nil {
		from.WorldSize = *in.Trace.Meta.WorldSize
	}
	switch {
	case in.Tables != nil && in.Series != nil:
		return summary.OfOneInput(analyze.Tables(in.Tables, from, opt.Options), analyze.Series(in.Series, from, opt.Options)), nil
	case in.Series != nil:
		return analyze.Series(in.Series, from, opt.Options), nil
	case in.Tables != nil && in.Trace == nil:
		return analyze.Tables(in.Tables, from, opt.Options), nil
	case in.Compiled != nil:
		return analyze.Compilations(in.Compiled, from), nil
	case in.Memory != nil:
		return analyze.Snapshot(in.Memory, from, opt.Options), nil
	case in.Timeline != nil:
		return analyze.MemoryTimeline(in.Timeline, from, opt.Options), nil
	case in.Counters != nil:
		return analyze.Counters(in.Counters, from, opt.Options), nil
	case in.Profile != nil:
		if !opt.Alone {
			p.samples = in.Profile.Threads
		}
		return analyze.Profile(in.Profile, from, opt.Options), nil
	}
	if opt.Sampled {
		opt.Launching = func(c *samples.Capture) { p.launching = c }
	}
	if !opt.Alone || gpus(in.Trace) > 1 {
		opt.Collectives = func(device int64, c *collective.Columns) {
			p.Members = append(p.Members, ranks.Member{Rank: in.Rank, Device: device, Columns: c})
		}
	}
	p.follow(in, &opt)
	s, err := opt.timeline(in.Trace, from)
	if err != nil {
		return nil, err
	}
	joined := in.Trace.Meta.DeviceRanks
	if in.RankFrom != "trace" {
		joined = nil
	}
	p.ready.within(s)
	opt.noteLeft(s, in)
	for i := range p.Members {
		m := &p.Members[i]
		m.Cut = !s.Inputs[0].Complete
		if rank, ok := joined[m.Device]; ok {
			m.Rank = rank
		}
	}
	if joined != nil {
		s.SetRanks(joined)
	}
	if in.Tables != nil { // of scopes, which the events of the timeline name
		s = summary.OfOneInput(s, analyze.Tables(in.Tables, s.Inputs[0], opt.Options))
	}
	return s, nil
}

// track sets the Track, which relates the times of the input to those of other inputs. It is
// not needed for an input that is alone.
func (p *Part) track(in *ingest.Input, opt Options) {
	switch {
	case opt.Alone:
		return
	case in.Series != nil:
		p.Track = clocks.OfLog(in.Series, func(name string) string { return opt.Phases.Match(name).Phase })
	case in.Trace != nil:
		p.Track = clocks.OfTrace(p.Summary)
	}
	if p.Track != nil {
		p.Track.Set(opt.Clock)
		p.Track.Rename(redact.Mask)
	}
}

// gpus returns the number of GPUs with work in a trace.
func gpus(t *trace.Trace) int {
	seen := map[int64]bool{}
	for i := range t.Tracks {
		if t.Tracks[i].OnDevice {
			seen[t.Tracks[i].Device] = true
		}
	}
	return len(seen)
}

// withoutSecrets masks the secrets of a part and adds an issue with their number. A summary that was
// read may have secrets, too: an older version that knew fewer forms, or another program, wrote it.
func (p Part) withoutSecrets(in *ingest.Input) Part {
	r := in.Secrets
	if r == nil {
		r = redact.New(false)
	}
	r.Strings(&p)
	if n := r.Secrets(); n > 0 {
		p.Changes()
		p.Summary.Issues = append(p.Summary.Issues, summary.Issue{
			Code: "secrets-masked", Severity: diag.Info.String(), Count: int64(n), First: redact.Mask(in.Path),
			Help: "Names in the capture contain possible secrets. assay masks them in its output, but the file still has them. Do not share the file, and replace the secrets.",
		})
		p.Summary.Sort()
	}
	return p
}

// Texts returns pointers to all values with texts, so that a caller can rewrite the texts.
func (p *Part) Texts() []any {
	out := []any{p.Summary}
	for _, m := range p.Members {
		out = append(out, m.Columns)
	}
	return out
}
