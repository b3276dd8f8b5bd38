package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"assay/compare"
	"assay/internal/diag"
	"assay/report"
	"assay/report/pictures"
	"assay/report/plot"
	"assay/summary"
)

func diffCommand() *command {
	return &command{
		name: "diff", args: "BASE NEW [-o DIR]",
		does: "compare two runs: what changed and where; all deltas add up",
		example: `  assay diff before.json.gz after.json.gz
  assay diff before.json.gz after.json.gz -o out
  assay diff before.json.gz after.json.gz --format md --brief > comment.md
  assay diff runs/main runs/branch                      # directories of repeated runs
  assay diff before.json.gz after.json.gz --by op,rank --where category=gemm
  assay diff --base a1.json --base a2.json --new 'b*.json'
  assay diff baseline/summary.json after.json.gz --format json | jq -r .headline
  assay diff train-main.log train-branch.log            # logs, benchmark results and monitors
`,
		run: runDiff,
	}
}

// difference has the flags of the diff command.
type difference struct {
	source
	base, new []string
	format    string
	brief     bool
	dir       string
	force     bool
	noHTML    bool
	form      *string // see [pictureFlag]
	group     grouping
	part      excerpting
}

func (d *difference) register(flags *pflag.FlagSet) {
	flags.SortFlags = false
	diffFormats(false).flag(flags, &d.format)
	d.group.register(flags)
	flags.BoolVar(&d.brief, "brief", false, "with --format md: a page of one screen for a pull request, under 4 KB")
	flags.StringVarP(&d.dir, "output", "o", "", "`DIR` for diff.html, diff.md, comparison.json and pictures; created if missing")
	flags.BoolVar(&d.noHTML, "no-html", false, "do not write diff.html, the page for a browser")
	d.form = pictureFlag(flags)
	flags.StringArrayVar(&d.base, "base", nil, "`INPUT` of the baseline, instead of BASE; once per run")
	flags.StringArrayVar(&d.new, "new", nil, "`INPUT` of the new state, instead of NEW; once per run")
	flags.BoolVar(&d.force, "force", false, "compare although GPU models differ or one side has no GPU time")
	d.part.register(flags)
	d.source.register(flags)
	d.peaks.register(flags)
}

// sides assigns the arguments to the two sides. It returns a message if there are too few or too
// many.
func (d *difference) sides(args []string) (wrong string) {
	named := len(d.base) > 0 || len(d.new) > 0
	switch {
	case named && (len(args) > 0 || len(d.base) == 0 || len(d.new) == 0):
		return "want BASE and NEW, or both --base and --new"
	case !named && len(args) != 2:
		return fmt.Sprintf("%s given, two are required: BASE and NEW; for repeated runs, give their directories, or give --base and --new once per run", plural(len(args), "input was", "inputs were"))
	case !named:
		d.base, d.new = args[:1], args[1:]
	}
	if slices.Contains(d.base, "-") && slices.Contains(d.new, "-") {
		return "standard input can be only one of the two sides"
	}
	if d.peaks.given() && d.dir == "" && (d.format == "text" || d.format == "csv") {
		return "--peaks, --set-peak and --model-flops change nothing in this output; add --format md or json, or -o DIR"
	}
	return checkBrief(d.brief, d.format)
}

func runDiff(e env, c *command, args []string) error {
	var d difference
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	d.register(flags)
	d.window.register(flags)
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	wrong := d.sides(args)
	if wrong == "" {
		wrong = d.group.check(flags)
	}
	if wrong == "" {
		wrong = d.part.check(flags, d.format, d.group.document("comparison"))
	}
	if wrong != "" {
		return usageError(e, c, wrong)
	}
	if flags.Changed("output") {
		if err := keepInputs(e, c, "report", d.dir, d.files().names(), slices.Concat(d.base, d.new, d.settings())); err != nil {
			return err
		}
	}
	d.outputs = []output{diffOutput, diffFormats(d.brief).named(d.format).needs}
	if d.dir != "" {
		d.outputs = append(d.outputs, diffJSONOutput)
	}
	base, failed := d.load(e, c, d.base)
	if base == nil {
		return failed
	}
	new, failedNew := d.load(e, c, d.new)
	if failed = errors.Join(failed, failedNew); new == nil {
		return failed
	}
	d.peaks.warn(e, c)
	return errors.Join(d.compare(e, base, new), failed)
}

// compare compares the sides and prints what changed.
func (d *difference) compare(e env, base, new *summary.Summary) error {
	opt := compare.Options{Force: d.force}
	if d.group.given() {
		sides := mask([]*summary.Summary{base, new}).value
		d.hideUsers(sides)
		answer, err := d.group.question.Compare(sides[0], sides[1], opt)
		if err != nil {
			return notCompared(err)
		}
		return e.print(d.part.part(groupingFormats().named(d.format).render(mask(answer))))
	}
	cmp, err := compare.Summaries(base, new, opt)
	if err != nil {
		return notCompared(err)
	}
	cmp = mask(cmp).value
	d.hideUsers(cmp) // both sides in one call, so that a name has the same replacement on both
	return d.show(e, cmp)
}

// notCompared returns the error for runs that are not compared.
func notCompared(err error) error {
	if refusal := (*compare.Refusal)(nil); errors.As(err, &refusal) {
		return fmt.Errorf("not compared: %w; use --force to compare anyway", err)
	}
	return fmt.Errorf("not compared: %w", err)
}

// show writes the report if -o is given, and prints the comparison.
func (d *difference) show(e env, cmp *compare.Comparison) error {
	doc := mask(report.BuildDiff(cmp))
	if d.dir != "" {
		names, err := writeReport(d.dir, doc, d.files())
		if err != nil {
			return fmt.Errorf("cannot write the report: %w", diag.PathOnly(err))
		}
		defer e.say("wrote %s and %s in %s", filepath.Join(d.dir, names[0]), plural(len(names)-1, "more file", "more files"), d.dir)
	}
	return e.print(d.part.part(diffFormats(d.brief).named(d.format).render(doc)))
}

func (d *difference) files() reportFiles {
	return reportFiles{json: "comparison.json", markdown: "diff.md", html: !d.noHTML, pictures: pictures.ComparisonFiles(), form: plot.Forms()[*d.form]}
}

// load measures the inputs of one side. It returns nil if none can be read. A directory of
// "assay accept" means its latest entry.
func (d *difference) load(e env, c *command, args []string) (*summary.Summary, error) {
	names, unread := latest(e, c, args)
	if len(names) == 0 {
		return nil, errors.Join(unread...)
	}
	r, err := d.open(e, c, names)
	if err != nil {
		return nil, err
	}
	r.sums = true
	s, failed := r.merged()
	return s, errors.Join(append(unread, failed...)...)
}
