package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/pflag"

	"assay/ingest"
	"assay/judge"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
	"assay/trace/window"
)

// windowing has the flags that narrow inputs to a part of their time, ranks and work.
type windowing struct {
	step, phase, from, to string
	end                   string // name of the flag that sets to
	steady                bool
	skip                  int
	rank, device, stream  string // lists of numbers
}

func (w *windowing) register(flags *pflag.FlagSet) {
	w.registerTime(flags, "to")
	w.registerChoice(flags)
}

// registerTime registers the flags of times. end is the name of the flag for the end of the range.
func (w *windowing) registerTime(flags *pflag.FlagSet, end string) {
	w.end = "--" + end
	flags.StringVar(&w.step, "step", "", "measure `STEPS` only: a number as in 3, or a range as in 3-5")
	flags.BoolVar(&w.steady, "steady", false, "measure from the first to the last steady step: without warm-up and partial steps")
	flags.IntVar(&w.skip, "ignore-first", 0, "leave out the first `N` steps of each input, in which programs compile; for logs of trainers too")
	flags.StringVar(&w.phase, "phase", "", "measure the longest run of the phase `NAME` only, of the steps that are measured")
	flags.StringVar(&w.from, "from", "", "measure from `TIME` on: since the start of the capture (1.2s), the ts of an event (ts:4904305.219) or a date")
	flags.StringVar(&w.to, end, "", "measure up to `TIME`")
}

// registerChoice registers the flags that select ranks, GPUs and streams.
func (w *windowing) registerChoice(flags *pflag.FlagSet) {
	flags.StringVar(&w.rank, "rank", "", "take the traces of these `RANKS` only, for example 0,3,5-7")
	flags.StringVar(&w.device, "device", "", "measure the work of these `GPUS` only, by their numbers in the trace, for example 0,2-3")
	flags.StringVar(&w.stream, "stream", "", "measure the work of these `STREAMS` only, for example 7,20; idle is then the time in which none of them works")
}

// request returns the part of time that the flags select, or nil if that is all of each capture.
func (w *windowing) request() (*window.Request, error) {
	r := &window.Request{Phase: w.phase, Steady: w.steady, Skip: w.skip}
	if w.skip < 0 {
		return nil, fmt.Errorf("--ignore-first is %d, want a number of steps", w.skip)
	}
	var err error
	if w.step != "" {
		r.Steps = true
		if r.First, r.Last, err = window.ParseSteps(w.step); err != nil {
			return nil, fmt.Errorf("--step: %w", err)
		}
	}
	for _, t := range []struct {
		flag, text string
		to         *window.Time
	}{{"--from", w.from, &r.From}, {w.end, w.to, &r.To}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = window.ParseTime(t.text); err != nil {
			return nil, fmt.Errorf("%s: %w", t.flag, err)
		}
	}
	if r.All() {
		return nil, nil
	}
	return r, nil
}

// choice is the selection of ranks, GPUs and streams by the flags.
type choice struct {
	ranks []int  // nil for all
	text  string // the value of --rank, for messages
	work  trace.Work
}

// chosen parses the flags that select ranks, GPUs and streams.
func (w *windowing) chosen() (choice, error) {
	c := choice{text: w.rank}
	for _, l := range []struct {
		flag, text, want string
		use              func(int)
	}{
		{"--rank", w.rank, "ranks such as 0,3,5-7", func(n int) { c.ranks = append(c.ranks, n) }},
		{"--device", w.device, "numbers of GPUs such as 0,2-3", func(n int) { c.work.Devices = append(c.work.Devices, int64(n)) }},
		{"--stream", w.stream, "numbers of streams such as 7,20", func(n int) { c.work.Streams = append(c.work.Streams, int64(n)) }},
	} {
		if l.text == "" {
			continue
		}
		list, ok := window.ParseNumbers(l.text)
		if !ok {
			return choice{}, fmt.Errorf("%s is %q, want %s", l.flag, l.text, l.want)
		}
		for _, n := range list {
			l.use(n)
		}
	}
	return c, nil
}

// selects reports whether --rank includes the input. A log, or another input without a timeline,
// belongs to every rank.
func (r *reading) selects(in *ingest.Input) bool {
	rank := in.Rank
	switch {
	case r.choice.ranks == nil:
		return true
	case in.Summary != nil && len(in.Summary.Inputs) == 1:
		rank = in.Summary.Inputs[0].Rank
	case in.Trace == nil:
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ranks == nil {
		r.ranks = map[int]bool{}
	}
	r.ranks[rank] = true
	return slices.Contains(r.choice.ranks, rank)
}

// absent returns an error if a selected rank is not among the inputs. It returns nil if no input
// could be read, because then the read errors are the cause.
func (r *reading) absent() error {
	if r.ranks == nil {
		return nil
	}
	for _, n := range r.choice.ranks {
		if !r.ranks[n] {
			return fmt.Errorf("--rank is %q, but rank %d is not among the inputs; they have the ranks %s", r.choice.text, n, window.ListNumbers(slices.Sorted(maps.Keys(r.ranks))))
		}
	}
	return nil
}

// steady reports for each step of a summary whether it is neither warm-up nor partial.
func steady(s *summary.Summary) []bool {
	return judge.Judge(s, rule.DefaultThresholds()).SteadySteps()
}
