package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/analyze"
	"assay/analyze/inspect"
	"assay/ingest"
	"assay/ingest/partial"
	"assay/internal/diag"
	"assay/internal/label"
	"assay/internal/outfile"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/summary"
	"assay/trace/window"
)

func inspectCommand() *command {
	return &command{
		name: "inspect", args: "[INPUT...] QUESTION",
		does: "show single events of a trace: the longest instances of a kernel or operator, a gap, a layer of the model, a moment, or why an operation started when it did",
		example: `  assay inspect trace.json.gz --kernel gemm
  assay inspect trace.json.gz --kernel 'ncclDevKernel_AllReduce*' --step 3-5
  assay inspect trace.json.gz --op aten::mm
  assay inspect trace.json.gz --gap 1
  assay inspect trace.json.gz --layer 17 --step 5
  assay inspect traces/ --at 12.3ms --rank 0
  assay inspect trace.json.gz --kernel gemm --why
  assay inspect trace.json.gz --kernel gemm --format json | jq '.kernels.longest[0]'
`,
		run: runInspect,
	}
}

// inspecting has the flags of the inspect command.
type inspecting struct {
	source
	kernel, op, at string
	gap, top       int
	layer          int // -1 without --layer
	ranks          string
	device         int64
	format         string

	chosen []int // ranks to inspect; nil for all
	moment window.Time
	hasGPU bool // --device is given
	why    bool
	part   excerpting
}

func runInspect(e env, c *command, args []string) error {
	var x inspecting
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringVar(&x.kernel, "kernel", "", "instances of the kernels, copies and memsets whose name contains `PATTERN`; with * in it, whose whole name is like it; if there are none, the kernels of this category")
	flags.StringVar(&x.op, "op", "", "calls of the operators of this name, else of those whose name contains `PATTERN` (with * in it: is like it), or of annotated ranges if there is no such operator")
	flags.IntVar(&x.gap, "gap", 0, "the `N`th longest GPU gap: 1 is the longest")
	flags.IntVar(&x.layer, "layer", -1, "the kernels of layer `N` of the model, from 0, beside those of the layer of median time: what is different")
	flags.StringVar(&x.at, "at", "", "what happened at `TIME`: since the start of the capture (1.2s), the ts of an event (ts:4904305.219) or a date")
	flags.BoolVar(&x.why, "why", false, "with --kernel or --at: why the longest instance, or what runs at that time, did not start earlier")
	flags.StringVar(&x.ranks, "rank", "", "`RANKS` to look at, for example 0,3,5-7 (default: all)")
	flags.Int64Var(&x.device, "device", 0, "look at the GPU of this number `N` only")
	flags.IntVar(&x.top, "top", 10, "`ROWS` of each table (with --why: 6)")
	inspectFormats().flag(flags, &x.format)
	x.part.register(flags)
	x.register(flags)
	x.window.registerTime(flags, "to")
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	x.hasGPU = flags.Changed("device")
	if wrong := cmp.Or(x.check(flags), x.part.check(flags, x.format, "inspection")); wrong != "" {
		return usageError(e, c, wrong)
	}
	if x.why && !flags.Changed("top") {
		x.top = whyLinks
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
	if x.gap > 0 && len(args) > 1 { // chooseGap reads an input again
		if e, err = e.spool(args, &temp); err != nil {
			return fmt.Errorf("standard input cannot be copied to a temporary file: %w", diag.PathOnly(err))
		}
	}
	r, err := x.open(e, c, args)
	if err != nil {
		return err
	}
	answer, failed := x.answer(r)
	if answer == nil {
		return errors.Join(failed...)
	}
	x.hideUsers(answer)
	if err := e.print(x.part.part(inspectFormats().named(x.format).render(mask(answer)))); err != nil {
		return err
	}
	return errors.Join(failed...)
}

// check returns a message if the flags are wrong, or "".
func (x *inspecting) check(flags *pflag.FlagSet) string {
	const most = 1000
	questions := 0
	for _, name := range []string{"kernel", "op", "gap", "layer", "at"} {
		if flags.Changed(name) {
			questions++
		}
	}
	narrowed := slices.ContainsFunc([]string{"step", "steady", "phase", "from", "to"}, flags.Changed)
	switch {
	case questions == 0:
		return "no question: give --kernel, --op, --gap, --layer or --at"
	case questions > 1:
		return "more than one question: give one of --kernel, --op, --gap, --layer and --at"
	case x.why && !flags.Changed("kernel") && !flags.Changed("at"):
		return "--why explains the start of a GPU operation; give it with --kernel or --at"
	case flags.Changed("kernel") && strings.TrimSpace(x.kernel) == "":
		return "--kernel is empty, want a name or a part of one"
	case flags.Changed("op") && strings.TrimSpace(x.op) == "":
		return "--op is empty, want a name or a part of one"
	case flags.Changed("gap") && (x.gap < 1 || x.gap > maxGap):
		return fmt.Sprintf("--gap is %d, want a number from 1, the longest gap, to %d", x.gap, maxGap)
	case flags.Changed("layer") && x.layer < 0:
		return fmt.Sprintf("--layer is %d, want a number from 0, the first layer", x.layer)
	case flags.Changed("at") && narrowed:
		return "--at is one moment; leave out --step, --phase, --steady, --from and --to"
	case x.top < 1 || x.top > most:
		return fmt.Sprintf("--top is %d, want a number of rows from 1 to %d", x.top, most)
	}
	if x.ranks != "" {
		var ok bool
		if x.chosen, ok = window.ParseNumbers(x.ranks); !ok {
			return fmt.Sprintf("--rank is %q, want ranks as in 0,3,5-7", x.ranks)
		}
	}
	if flags.Changed("at") {
		var err error
		if x.moment, err = window.ParseTime(x.at); err != nil {
			return "--at: " + err.Error()
		}
	}
	return ""
}

// maxGap is the largest accepted value of --gap.
const maxGap = 1_000_000

// maxMoments is the number of inputs whose moments an answer shows at most.
const maxMoments = 8

// answers has the answer of each input, in the order of the inputs.
type answers struct {
	kernels []*inspect.Kernels
	ops     []*inspect.Ops
	gaps    [][]inspect.Gap
	moments []*inspect.Moment
	starts  []*inspect.Instance // for --why
	kept    []*inspect.Capture  // for --why
	layers  [][]inspect.Layer
	last    []int32 // largest number of a layer
}

// answer inspects all inputs. It returns the joined answer, or nil if there is none, and the
// errors.
func (x *inspecting) answer(r *reading) (*inspect.Answer, []error) {
	n := len(r.paths)
	out := &inspect.Answer{Schema: inspect.Schema, Question: inspect.Question{Kernel: x.kernel, Op: x.op, Gap: x.gap, At: x.at, Why: x.why, Top: x.top}, Inputs: make([]inspect.Source, n)}
	if r.window != nil {
		out.Question.Window = r.window.String()
	}
	for i, path := range r.paths {
		out.Inputs[i].Path = path
	}
	errs := make([]error, n)
	all := answers{make([]*inspect.Kernels, n), make([]*inspect.Ops, n), make([][]inspect.Gap, n), make([]*inspect.Moment, n),
		make([]*inspect.Instance, n), make([]*inspect.Capture, n), make([][]inspect.Layer, n), make([]int32, n)}
	if x.layer >= 0 {
		out.Question.Layer = &x.layer
	}
	failed := r.all(func(i int, in *ingest.Input) {
		c, when, err := x.capture(r, i, in)
		if c != nil {
			out.Inputs[i].Rank, out.Inputs[i].Issues = &in.Rank, c.Issues()
			err = x.answerOne(c, when, &all, i)
		}
		errs[i] = err
	})
	failed = append(failed, notNil(errs)...)
	inspected := slices.ContainsFunc(out.Inputs, func(s inspect.Source) bool { return s.Rank != nil })
	switch {
	case !inspected && len(failed) == 0:
		return nil, []error{errors.New("no input has a rank and a GPU that --rank and --device ask for")}
	case !inspected:
		return nil, failed
	}
	if err := x.join(r, out, &all, len(failed) > 0); err != nil {
		return nil, append(failed, incomplete(err, out.Inputs))
	}
	if x.at != "" && out.Why == nil && len(out.Moments) == 0 {
		return nil, failed
	}
	return out, failed
}

// answerOne computes the answer of input i.
func (x *inspecting) answerOne(c *inspect.Capture, when window.Capture, all *answers, i int) error {
	switch {
	case x.why:
		return x.start(c, when, all, i)
	case x.kernel != "":
		all.kernels[i] = c.Kernels(x.kernel, x.top)
	case x.op != "":
		all.ops[i] = c.Ops(x.op, x.top)
	case x.layer >= 0:
		all.layers[i], all.last[i] = c.Layers(x.layer)
	case x.gap > 0:
		gaps := c.Longest(x.gap)
		if len(all.gaps) == 1 && len(gaps) == x.gap {
			c.Explain(&gaps[x.gap-1], x.top)
		}
		all.gaps[i] = gaps
	default:
		at, err := x.time(when)
		if err != nil {
			return err
		}
		all.moments[i] = c.At(at, x.top)
	}
	return nil
}

// join combines the answers of all inputs into one. failed says that some inputs have none.
func (x *inspecting) join(r *reading, out *inspect.Answer, all *answers, failed bool) (err error) {
	switch {
	case x.why:
		out.Why, err = x.explain(all, failed)
		return err
	case x.kernel != "":
		out.Kernels = inspect.JoinKernels(present(all.kernels), x.top)
		return notFound("GPU operation", x.kernel, out.Kernels.Count, out.Kernels.Instead, doc.KernelLabel)
	case x.op != "":
		out.Ops = inspect.JoinOps(present(all.ops), x.top)
		return notFound("operator or range", x.op, int64(len(out.Ops.Names)), out.Ops.Instead, func(name string) string { return label.Clip(name, 60) })
	case x.layer >= 0:
		out.Layers, err = x.layersOf(all)
		return err
	case x.gap > 0:
		out.Gap, err = x.chooseGap(r, inspect.RankGaps(slices.Concat(all.gaps...), x.gap), len(all.gaps) == 1)
		return err
	}
	x.addMoments(out, present(all.moments))
	return nil
}

// layersOf returns the layers of all inputs, or why there are none.
func (x *inspecting) layersOf(all *answers) ([]inspect.Layer, error) {
	list, last := slices.Concat(all.layers...), slices.Max(all.last)
	switch {
	case len(list) > 0:
		return list, nil
	case last < 1:
		return nil, errors.New("no layers that repeat were found in the order of kernels")
	}
	return nil, fmt.Errorf("--layer is %d, want a number from 0 to %d, the last layer that was found", x.layer, last)
}

// addMoments adds the moments of the inputs, ordered by rank, up to maxMoments.
func (x *inspecting) addMoments(out *inspect.Answer, all []*inspect.Moment) {
	slices.SortStableFunc(all, func(a, b *inspect.Moment) int { return cmp.Compare(a.Rank, b.Rank) })
	for i, m := range all {
		if i == maxMoments {
			out.MomentsLeft = len(all) - maxMoments
			break
		}
		out.Moments = append(out.Moments, *m)
	}
}

// incomplete extends a "not found" error if the capture has lost events: what the user looks for
// may be among them.
func incomplete(err error, inputs []inspect.Source) error {
	for _, in := range inputs {
		for _, is := range in.Issues {
			if is.Severity == diag.DataLoss.String() {
				return fmt.Errorf("%w; %s is not complete (%s)", err, in.Path, is.Code)
			}
		}
	}
	return err
}

// notNil removes nil errors.
func notNil(errs []error) []error {
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// present removes the answers that are nil.
func present[T any](all []*T) []*T {
	return slices.DeleteFunc(all, func(a *T) bool { return a == nil })
}

// notFound returns an error if n is 0. It suggests names that the capture has.
func notFound(what, pattern string, n int64, instead inspect.Suggestion, short func(string) string) error {
	switch {
	case n > 0:
		return nil
	case len(instead.Names) == 0:
		return fmt.Errorf("nothing has a name like %q: the capture has no %s in this window", pattern, what)
	}
	var names []string
	for _, name := range instead.Names {
		names = append(names, fmt.Sprintf("%q", short(name)))
	}
	are := "the names with the most time are"
	if instead.Near {
		are = "the nearest names are"
	}
	return fmt.Errorf("no %s has a name like %q; %s %s", what, pattern, are, strings.Join(names, ", "))
}

// wants reports whether --rank chooses a rank.
func (x *inspecting) wants(rank int) bool { return x.chosen == nil || slices.Contains(x.chosen, rank) }

// capture prepares an input. It returns nil without an error if --rank leaves
// the input out, or if only another of several inputs has the GPU.
func (x *inspecting) capture(r *reading, i int, in *ingest.Input) (*inspect.Capture, window.Capture, error) {
	if in.Trace == nil {
		return nil, window.Capture{}, fmt.Errorf("%s: the input has no timeline; give a trace in Chrome JSON or an export of Nsight Systems", in.Path)
	}
	if !x.wants(in.Rank) && !x.why { // for --why, other ranks may be what is waited for
		return nil, window.Capture{}, nil
	}
	opt := partial.Options{
		Options: analyze.Options{Rules: r.rules, Phases: r.phases, MaxRows: r.limits.memory.Rows()},
		Window:  r.window, Steady: steady,
	}
	part, when, err := opt.Narrow(in.Trace, summary.Input{Path: in.Path, Rank: in.Rank})
	if err != nil {
		return nil, when, err
	}
	c := inspect.New(in.Trace, part, inspect.Input{Index: i, Rank: in.Rank}, opt.Options)
	if x.hasGPU {
		all := c.Devices()
		switch found := c.Only(x.device); {
		case !found && len(r.paths) > 1 && !x.why:
			return nil, when, nil
		case !found && len(r.paths) > 1:
		case !found:
			return nil, when, fmt.Errorf("%s: --device is %d, but the capture has no GPU of this number; it has %s", in.Path, x.device, numbers(all))
		}
	}
	return c, when, nil
}

// numbers returns the ordinals of GPUs as text.
func numbers(all []int64) string {
	if len(all) == 0 {
		return "none"
	}
	var list []int
	for _, n := range all {
		list = append(list, int(min(n, math.MaxInt32)))
	}
	return window.ListNumbers(list)
}

// time returns --at as a time in ns on the clock of a capture.
func (x *inspecting) time(when window.Capture) (int64, error) {
	at, err := x.moment.On(when)
	if err == nil && (at < when.Start || at >= when.End) {
		err = fmt.Errorf("%s: --at %s is not in the capture, which takes %s", when.Name, x.at, unit.Duration(when.End-when.Start))
	}
	return at, err
}

// rewind goes back to the start of standard input if it was copied to a file.
func (e env) rewind() error {
	if f, ok := e.stdin.(*os.File); ok && f != os.Stdin {
		_, err := f.Seek(0, io.SeekStart)
		return err
	}
	return nil
}

// upTo returns the range of valid numbers of gaps, for an error message.
func upTo(gaps int) string {
	if gaps == 0 {
		return "of a gap, but the capture has none"
	}
	return fmt.Sprintf("from 1 to %d: the capture has %s", gaps, plural(gaps, "gap", "gaps"))
}

// chooseGap returns the gap that the user selected. Details of a gap need the trace, so with
// several inputs the one that has the gap is read again.
func (x *inspecting) chooseGap(r *reading, all []inspect.Gap, alone bool) (*inspect.Gap, error) {
	if len(all) < x.gap {
		return nil, fmt.Errorf("--gap is %d, want a number %s", x.gap, upTo(len(all)))
	}
	g := &all[x.gap-1]
	if alone {
		return g, nil
	}
	if err := r.e.rewind(); err != nil {
		return nil, err
	}
	r.paths, r.failed = r.paths[g.Input:g.Input+1], nil
	var wrong error
	failed := r.all(func(_ int, in *ingest.Input) {
		var c *inspect.Capture
		if c, _, wrong = x.capture(r, g.Input, in); c != nil {
			c.Explain(g, x.top)
		}
	})
	return g, errors.Join(append(failed, wrong)...)
}
