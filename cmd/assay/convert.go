package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/analyze"
	"assay/analyze/memory"
	"assay/ingest"
	"assay/internal/diag"
	"assay/internal/outfile"
	"assay/internal/profile"
	"assay/internal/unit"
)

func convertCommand() *command {
	return &command{
		name: "convert", args: "[INPUT...] --to FORMAT",
		does: "write a profile for pprof and flame graph viewers, ranks as one timeline for Perfetto, or the page of a report",
		example: `  assay convert trace.json.gz --to pprof -o gpu.pb.gz
  go tool pprof -http=localhost:8080 gpu.pb.gz
  assay convert trace.json.gz --to folded | flamegraph.pl --countname=ns > gpu.svg
  zcat trace.json.gz | assay convert --to pprof --value cpu > cpu.pb.gz
  assay convert server.callgrind --to pprof -o server.pb.gz
  assay convert traces/ --to chrome --rank 0,3,5-7 -o run.json.gz
  assay convert trace.json.gz --to chrome --critical -o path.json
  assay convert trace.json.gz --to html -o page.html
`,
		run: runConvert,
	}
}

const (
	toChrome = "chrome" // the format of a timeline
	toPage   = "html"   // the page of a report
)

// conversion has the flags of the convert command.
type conversion struct {
	source
	to, value, output string
	critical          bool
}

func runConvert(e env, c *command, args []string) error {
	var conv conversion
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	choose(flags, &conv.to, "to", "t", "", "`FORMAT` of the output: %s", convertFormats().words())
	choose(flags, &conv.value, "value", "", string(analyze.GPUTime), "`VALUE` of the stacks of a trace: %s",
		[]word{{string(analyze.GPUTime), "durations of kernels and copies"}, {string(analyze.CPUTime), "self times of CPU threads"}})
	flags.BoolVar(&conv.critical, "critical", false, "with --to chrome: only the critical path of each step, to be opened together with the capture")
	flags.StringVarP(&conv.output, "output", "o", ingest.Stdin, "`FILE` to write; \"-\" is standard output; a timeline is compressed if the name ends in .gz or .zst")
	conv.register(flags)
	conv.window.registerTime(flags, "until") // --to is the format
	conv.window.registerChoice(flags)
	flags.Lookup("rank").Usage = "take the traces of these `RANKS` only, for example 0,3,5-7 (default: all; a timeline of more than 8 has those that stand out)"
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	if wrong := conv.check(e, args, flags.Changed("value")); wrong != "" {
		return usageError(e, c, wrong)
	}
	if len(args) == 0 {
		args = []string{ingest.Stdin}
	}
	if conv.to == toChrome {
		var temp outfile.Registry
		defer temp.Close()
		if e, err = e.spool(args, &temp); err != nil {
			return fmt.Errorf("standard input cannot be copied to a temporary file: %w", diag.PathOnly(err))
		}
	}
	if conv.to == toPage {
		return conv.page(e, c, args)
	}
	to := convertFormats().named(conv.to)
	conv.outputs = []output{to.needs}
	if conv.critical {
		conv.outputs = []output{eventOutput}
	}
	r, err := conv.open(e, c, args)
	if err != nil {
		return err
	}
	if err := outfile.CheckFile(conv.output, append(r.paths, conv.settings()...)); errors.Is(err, outfile.ErrInput) {
		return inputKept(e, c, "result", err)
	} else if err != nil {
		return fmt.Errorf("cannot write the result: %w", diag.PathOnly(err))
	}
	if conv.critical {
		return conv.criticalPath(r, c)
	} else if conv.to == toChrome {
		return conv.timeline(r, c)
	}
	parts, failed := conv.convert(r)
	if len(parts) == 0 {
		return errors.Join(failed...)
	}
	p, err := conv.merge(e, c, parts)
	if err != nil {
		return errors.Join(append(failed, err)...)
	}
	conv.hideUsers(p)
	if err := e.output(conv.output, mask(p).as(to.write)); err != nil {
		failed = append(failed, fmt.Errorf("cannot write the result: %w", diag.PathOnly(err)))
	}
	return errors.Join(failed...)
}

// check returns a message if the flags are wrong, or "".
func (conv *conversion) check(e env, args []string, value bool) string {
	switch {
	case conv.to == "":
		return "--to is not given, want " + either(names(convertFormats().words()))
	case value && (conv.to == toChrome || conv.to == toPage):
		return "--value is for pprof and folded; the others have GPU and CPU"
	case conv.critical && conv.to != toChrome:
		return "--critical is for --to chrome"
	case conv.critical && (conv.window.device != "" || conv.window.stream != ""):
		return "a critical path leads through all GPU work and the CPU; leave out --device and --stream"
	case len(args) == 0 && isTerminal(e.stdin):
		return "no input: name a trace, or pipe one in"
	case conv.to == "pprof" && conv.output == ingest.Stdin && isTerminal(e.stdout):
		return "pprof is binary and standard output is a terminal: name a file with -o, or use a pipe"
	}
	return ""
}

// converted is the profile of one input.
type converted struct {
	path, sha256 string
	rank         int
	profile      *profile.Profile
	what         string // what the profile measures
	traced       bool   // the input is a trace
}

// convert returns the profiles of the inputs that could be read, in their order, and the errors of
// the others. It returns no profiles if all of them together exceed the memory limit.
func (conv *conversion) convert(r *reading) ([]*converted, []error) {
	parts, errs := make([]*converted, len(r.paths)), make([]error, len(r.paths))
	failed := r.all(func(i int, in *ingest.Input) {
		if len(r.paths) > 1 && r.keep(0) > r.limits.memory.Stacks() {
			return
		}
		part := &converted{path: in.Path, sha256: in.SHA256, rank: in.Rank}
		switch {
		case in.Profile != nil:
			part.profile, part.what = in.Profile, "stacks"
		case in.Tables != nil:
			if errs[i] = part.rows(r.e, in); errs[i] != nil {
				return
			}
		case in.Memory != nil:
			part.profile, part.what = memory.Stacks(in.Memory), "allocated memory"
		case in.Trace == nil:
			errs[i] = fmt.Errorf("%s: the input has no stacks; give a trace or a profile", in.Path)
			return
		default:
			t, err := r.narrowed(in)
			if errs[i] = err; err != nil {
				return
			}
			part.profile = analyze.Stacks(t, r.rules, analyze.StackValue(conv.value), r.limits.memory.Stacks())
			part.what, part.traced = conv.value+" time", true
		}
		r.keep(part.profile.Memory())
		parts[i] = part
	})
	if most := r.limits.memory; len(r.paths) > 1 && r.keep(0) > most.Stacks() {
		return nil, []error{fmt.Errorf("the profiles of %d inputs together exceed the memory limit of %s; raise --max-memory, or convert fewer inputs at a time", len(r.paths), unit.Bytes(int64(most)))}
	}
	failed = append(failed, slices.DeleteFunc(errs, func(err error) bool { return err == nil })...)
	return slices.DeleteFunc(parts, func(p *converted) bool { return p == nil }), failed
}

// merge makes one profile of all inputs. With several inputs, the outermost frame of each stack is
// the rank of its input, or the path if two inputs have the same rank.
func (conv *conversion) merge(e env, c *command, parts []*converted) (*profile.Profile, error) {
	ranks := make(map[int]bool)
	for _, part := range parts {
		ranks[part.rank] = true
	}
	var all []*profile.Profile
	samples := 0
	for _, part := range parts {
		p := part.profile
		samples += len(p.Samples)
		if len(parts) > 1 {
			f := profile.Frame{Name: part.path}
			if len(ranks) == len(parts) {
				f.Name = fmt.Sprintf("rank %d", part.rank)
			}
			p = p.Under(f, profile.Label{Key: "input", Text: part.path})
		}
		all = append(all, p)
	}
	if samples == 0 {
		return nil, conv.nothing(parts)
	}
	if err := sameColumns(parts); err != nil {
		return nil, err
	}
	p := all[0] // not merged: a trace has added up equal stacks already, and a copy would double the memory
	if len(parts) > 1 || !parts[0].traced {
		var err error
		if p, err = profile.Merge(all...); err != nil {
			return nil, err
		}
	}
	p.Comments = append(p.Comments, conv.caveats(e, c, parts)...)
	return p, nil
}

// sameColumns returns an error if the inputs do not all have the same columns and units, because
// one profile cannot mix them.
func sameColumns(parts []*converted) error {
	names := func(p *profile.Profile) string {
		var out []string
		for _, c := range p.Columns {
			out = append(out, c.Name+" ("+c.Unit+")")
		}
		return strings.Join(out, ", ")
	}
	first := parts[0]
	for _, part := range parts[1:] {
		if !slices.Equal(part.profile.Columns, first.profile.Columns) {
			return fmt.Errorf("%s has %s, but %s has %s; one profile cannot have both; convert each input separately",
				first.path, names(first.profile), part.path, names(part.profile))
		}
	}
	return nil
}

// caveats returns the source of the profile and the issues that affect its numbers, for the
// profile's comments. It also prints the issues, because few viewers show comments.
func (conv *conversion) caveats(e env, c *command, parts []*converted) []string {
	made := fmt.Sprintf("%s of %d inputs; the label \"input\" has their paths", parts[0].what, len(parts))
	if len(parts) == 1 {
		made = fmt.Sprintf("%s of %s, sha256 %s", parts[0].what, parts[0].path, parts[0].sha256)
	}
	out := []string{made}
	for _, part := range parts {
		out = append(out, diag.Warnings(part.path, part.profile.Issues)...)
		if len(part.profile.Samples) == 0 {
			out = append(out, fmt.Sprintf("%s: the input has no %s", part.path, part.what))
		}
	}
	for _, line := range out[1:] {
		e.say("assay %s: %s", c.name, line)
	}
	return out
}

// nothing returns the error that no input has the value, and suggests the other value.
func (conv *conversion) nothing(parts []*converted) error {
	if !slices.ContainsFunc(parts, func(p *converted) bool { return p.traced }) {
		return fmt.Errorf("%s: the input has nothing to convert", parts[0].path)
	}
	what, other := "GPU operations", analyze.CPUTime
	if conv.value == string(analyze.CPUTime) {
		what, other = "slices of CPU threads", analyze.GPUTime
	}
	if len(parts) == 1 {
		return fmt.Errorf("%s: the input has no %s; try --value %s", parts[0].path, what, other)
	}
	return fmt.Errorf("none of %d inputs has %s; try --value %s", len(parts), what, other)
}
