package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"assay/analyze"
	"assay/ingest"
	"assay/ingest/export"
	"assay/internal/diag"
	"assay/internal/outfile"
	"assay/trace"
	"assay/trace/window"
)

func trimCommand() *command {
	return &command{
		name: "trim", args: "[INPUT...] -o FILE|DIR",
		does: "write a part of a trace as a smaller trace, for Perfetto and assay",
		example: `  assay trim trace.json.gz --step 3-4 -o small.json.gz
  assay trim trace.json.gz --phase backward --no-python -o backward.json.gz
  assay trim trace.json.gz --from 1.2s --to 1.4s --gpu-only -o gpu.json
  assay trim trace.json.gz --max-size 100MB --redact -o share.json.gz
  assay trim traces/ --step 3 --rank 0,4 -o step3/
  assay trim report.sqlite --from 1s --to 2s -o part.json.gz
`,
		run: runTrim,
	}
}

// trimming has the flags of the trim command.
type trimming struct {
	source
	output            string
	maxSize           size // limit of each output file
	gpuOnly, noPython bool
}

func runTrim(e env, c *command, args []string) error {
	var t trimming
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringVarP(&t.output, "output", "o", "", "`FILE` to write, compressed if its name ends in .gz or .zst; of several inputs the directory, in which names are kept")
	t.window.register(flags)
	flags.BoolVar(&t.gpuOnly, "gpu-only", false, "keep the work of GPUs and counters only, nothing of the CPU")
	flags.BoolVar(&t.noPython, "no-python", false, "leave out calls of Python functions, often most of a trace")
	t.maxSize.least = minTrimmed
	flags.Var(&t.maxSize, "max-size", "`SIZE` limit of each file as it is written, for example 100MB; what does not fit is left out: first calls of Python functions, then the end of the part")
	t.register(flags)
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	if wrong := t.check(e, args); wrong != "" {
		return usageError(e, c, wrong)
	}
	if len(args) == 0 {
		args = []string{ingest.Stdin}
	}
	var temp outfile.Registry
	defer temp.Close()
	if e, err = e.spool(args, &temp); err != nil {
		return fmt.Errorf("standard input cannot be copied to a temporary file: %w", diag.PathOnly(err))
	}
	t.outputs = []output{timelineOutput}
	r, err := t.open(e, c, args)
	if err != nil {
		return err
	}
	return t.run(r, c)
}

// check returns a message if the flags are wrong, or "".
func (t *trimming) check(e env, args []string) string {
	w := &t.window
	switch {
	case t.output == "":
		return "-o is not given, want the file to write"
	case len(args) == 0 && isTerminal(e.stdin):
		return "no input: name a trace, or pipe one in"
	case w.step+w.phase+w.from+w.to+w.device+w.stream+w.rank == "" && !w.steady && w.skip == 0 && !t.gpuOnly && !t.noPython && t.maxSize.text == "":
		return "nothing says what to keep: give --step, --steady, --ignore-first, --phase, --from, --to, --device, --stream, --gpu-only, --no-python or --max-size"
	}
	return ""
}

// minTrimmed is the smallest accepted --max-size, in bytes.
const minTrimmed = 4 << 10

func (t *trimming) run(r *reading, c *command) error {
	j := &trimJob{trimming: t, r: r, name: c.name}
	if err := j.place(); err != nil {
		if errors.Is(err, outfile.ErrInput) {
			return inputKept(r.e, c, "result", err)
		}
		return fmt.Errorf("cannot write the result: %w", diag.PathOnly(err))
	}
	if len(r.paths) > 1 {
		if err := j.align(); err != nil {
			return err
		}
	}
	r.needs = func() trace.Select {
		need := analyze.Needs()
		need.Shapes, need.FlowsIfNeeded, need.Index = false, false, true
		return need
	}
	errs := make([]error, len(r.paths))
	failed := r.all(func(i int, in *ingest.Input) { errs[i] = j.one(i, in) })
	for _, lines := range j.lines {
		for _, line := range lines {
			r.e.say("assay %s: %s", c.name, line)
		}
	}
	return errors.Join(append(failed, errs...)...)
}

// trimJob trims the inputs of one command.
type trimJob struct {
	*trimming
	r       *reading
	name    string
	outputs []string       // path of the output of each input
	common  []*window.Span // the range that all ranks share, on the clock of each input; nil to use the input's own range
	lines   [][]string     // messages on each output
}

// place determines the paths of the outputs, and returns an error if one cannot be written.
func (j *trimJob) place() error {
	j.outputs, j.common, j.lines = make([]string, len(j.r.paths)), make([]*window.Span, len(j.r.paths)), make([][]string, len(j.r.paths))
	info, err := os.Stat(j.output)
	dir := err == nil && info.IsDir() || os.IsPathSeparator(j.output[len(j.output)-1])
	if len(j.r.paths) == 1 && !dir {
		j.outputs[0] = j.output
		return outfile.CheckFile(j.output, append(j.r.paths, j.settings()...))
	}
	if err := outfile.CheckDir(j.output); err != nil {
		return err
	}
	taken := map[string]string{}
	for i, path := range j.r.paths {
		name := trimmedName(path)
		if other, ok := taken[name]; ok {
			return fmt.Errorf("%s and %s would have the same name; trim them one by one", other, path)
		}
		taken[name] = path
		j.outputs[i] = filepath.Join(j.output, name)
		if _, err := os.Stat(j.output); err != nil {
			continue // the directory does not exist yet and will be created
		}
		if err := outfile.CheckFile(j.outputs[i], append(j.r.paths, j.settings()...)); err != nil {
			return err
		}
	}
	return nil
}

// trimmedName returns the name of an input's output in a directory. Every format is written as
// JSON, so the extension of other formats is replaced.
func trimmedName(path string) string {
	name := filepath.Base(path)
	if path == ingest.Stdin {
		name = "trace.json.gz"
	}
	for _, ext := range []string{".sqlite", ".nsys-rep", ".qdrep"} {
		if rest, ok := strings.CutSuffix(name, ext); ok {
			return rest + ".json.gz"
		}
	}
	return name
}

// one trims one input.
func (j *trimJob) one(i int, in *ingest.Input) error {
	if in.Trace == nil {
		return fmt.Errorf("%s: the input has no timeline to take a part of; leave it out", in.Path)
	}
	p, err := j.part(in, export.Source{Path: j.r.paths[i], Common: j.common[i], Output: j.outputs[i]})
	if err != nil {
		return err
	}
	in.Trace = nil // the choice of events is made, so free the memory of the trace
	if err := p.Learn(); err != nil {
		return err
	}
	encode := func(p *export.Choice, w io.Writer) error { return outfile.Compressed(j.outputs[i], w, p.Write) }
	if err := j.write(j.outputs[i], mask(p).as(encode)); err != nil {
		return fmt.Errorf("%s: cannot write the result: %w", in.Path, diag.PathOnly(err))
	}
	j.lines[i] = j.describe(p, j.outputs[i])
	return nil
}

// write writes an output. It creates the directory if missing.
func (j *trimJob) write(path string, r result) error {
	if path == j.output {
		return j.r.e.output(path, r)
	}
	out := newWriter()
	defer out.stop()
	if err := out.dir(filepath.Dir(path)); err != nil {
		return err
	}
	return out.file(path, r)
}
