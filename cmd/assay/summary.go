package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"assay/analyze"
	"assay/ingest"
	"assay/internal/diag"
	"assay/internal/outfile"
	"assay/report"
)

func summaryCommand() *command {
	return &command{
		name: "summary", args: "[INPUT...]",
		does: "print the measurements; reads standard input if no input is given",
		example: `  assay summary trace.json.gz
  zcat trace.json.gz | assay summary
  nsys stats report.nsys-rep | assay summary
  assay summary trace.json.gz --format md >> "$GITHUB_STEP_SUMMARY"
  assay summary trace.json.gz --format md --brief > comment.md
  assay summary trace.json.gz --format json | jq '.devices[].activity'
  assay summary traces/ --save out/        # on each node; then: assay merge
  assay summary trace.json.gz --by op,rank --where category=gemm
  assay summary trace.json.gz --by category --format json | jq '.rows[0].total_ns'
  assay summary trace.json.gz --table cuda_gpu_kern_sum,cuda_api_sum --format csv
`,
		run: runSummary,
	}
}

func runSummary(e env, c *command, args []string) error {
	var m measure
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	var format string
	choose(flags, &format, "format", "f", "text", "`FORMAT` of the output: %s; with --table "+either(names(tableFormats(0, nil).words()))+"; with --by also csv", summaryFormats(false, false).words(), "csv")
	brief := flags.Bool("brief", false, "with --format md: a page of one screen for a pull request, under 4 KB")
	tables := flags.StringSlice("table", nil, "print reports of nsys stats for any trace: `NAME`[,NAME...] of \"assay help tables\"")
	var group grouping
	group.register(flags)
	full := fullFlag(flags)
	var part excerpting
	part.register(flags)
	flags.StringVar(&m.save, "save", "", "also write the measurements of each input to `DIR`, as a partial for \"assay merge\" or a baseline for \"assay check\"; the content determines the file names")
	details := flags.Bool("detail", false, "with --format json or --save: also print what a zoomable timeline shows: fine bins of activity, operations of each stream, phases, gaps")
	m.register(flags)
	m.window.register(flags)
	m.peaks.register(flags)
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	wrong := tabulates(format, flags.Changed("table"), group.given())
	tab := tabulation{format: format}
	if wrong == "" && flags.Changed("table") {
		wrong = tab.choose(*tables)
	}
	if wrong == "" && *details && format != "json" && m.save == "" {
		wrong = "--detail is for programs; add --format json or --save DIR"
	}
	if wrong == "" && m.peaks.given() && !m.peaks.floor.given() && format == "text" && m.save == "" {
		wrong = "--peaks, --set-peak and --model-flops change nothing on the screen; add --format md or json, or use \"assay report\""
	}
	if wrong == "" {
		wrong = checkBrief(*brief, format)
	}
	if wrong == "" {
		wrong = group.check(flags)
	}
	if wrong == "" {
		wrong = part.check(flags, format, group.document("summary"))
	}
	if wrong != "" {
		return usageError(e, c, wrong)
	}
	if len(args) == 0 {
		if isTerminal(e.stdin) {
			return usageError(e, c, "no input: name a trace, or pipe one in")
		}
		args = []string{ingest.Stdin}
	}
	if flags.Changed("save") {
		if err := outfile.CheckDir(m.save); err != nil {
			return fmt.Errorf("cannot write the partial: %w", diag.PathOnly(err))
		}
	}
	to := summaryFormats(*brief, *full).named(format)
	m.outputs = []output{to.needs}
	if *details {
		m.outputs = append(m.outputs, detailOutput)
	}
	if flags.Changed("save") {
		m.outputs = append(m.outputs, savedOutput)
	}
	if flags.Changed("table") {
		m.outputs = []output{tableOutput}
		return tab.run(e, c, &m.source, args)
	}
	if group.given() {
		m.outputs, m.measures = []output{screenOutput}, analyze.Passes
		return group.run(e, c, &m, format, &part, args)
	}
	v, failed := m.load(e, c, args)
	if v == nil {
		return failed
	}
	build := report.Overview
	switch {
	case *brief:
		build = report.Brief
	case format == "md":
		build = report.Build
	}
	doc := mask(build(v.summary, v.result))
	if err := e.print(part.part(to.render(doc))); err != nil {
		return err
	}
	return failed
}

// fullFlag registers the flag for JSON that is not rolled up over the ranks.
func fullFlag(flags *pflag.FlagSet) *bool {
	return flags.Bool("full", false, "keep all rows of every rank in the JSON of several ranks; by default it has sums over the ranks, and all rows only of ranks that stand out")
}

// checkBrief returns a message if --brief does not suit the format, or "".
func checkBrief(brief bool, format string) string {
	if brief && format != "md" {
		return fmt.Sprintf("--brief is a page in Markdown, and --format is %q; add --format md", format)
	}
	return ""
}
