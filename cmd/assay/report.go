package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"assay/internal/diag"
	"assay/report"
	"assay/report/pictures"
	"assay/report/plot"
)

func reportCommand() *command {
	return &command{
		name: "report", args: "INPUT... [-o DIR]",
		does: "print the verdict, and write report.html, report.md, summary.json and pictures to DIR",
		example: `  assay report trace.json.gz -o out
  assay report DIR_OF_TRACES -o out
  assay report trace.json.gz -o out --format md --brief > comment.md
`,
		run: runReport,
	}
}

func runReport(e env, c *command, args []string) error {
	var m measure
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	dir := flags.StringP("output", "o", "assay-report", "`DIR` for the report; created if missing")
	var format string
	choose(flags, &format, "format", "f", "text", "`FORMAT` of what is printed: %s", summaryFormats(false, false).words())
	brief := flags.Bool("brief", false, "with --format md: print the page of one screen for a pull request, under 4 KB, with which report.md begins")
	full := fullFlag(flags)
	var part excerpting
	part.register(flags)
	noHTML := flags.Bool("no-html", false, "do not write report.html, the page for a browser")
	form := pictureFlag(flags)
	m.register(flags)
	m.window.register(flags)
	m.peaks.register(flags)
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	if wrong := cmp.Or(checkBrief(*brief, format), part.check(flags, format, "summary")); wrong != "" {
		return usageError(e, c, wrong)
	}
	if len(args) == 0 {
		return usageError(e, c, "no input: name a trace, a directory of traces, or \"-\" for standard input")
	}
	files := reportFiles{json: "summary.json", markdown: "report.md", html: !*noHTML, pictures: pictures.Files(), form: plot.Forms()[*form], full: *full}
	if err := keepInputs(e, c, "report", *dir, files.names(), append(m.settings(), args...)); err != nil {
		return err
	}
	m.writesTo(*dir, files.names())
	m.outputs = []output{screenOutput, mdOutput, jsonOutput, pictureOutput, pathOutput}
	if !*noHTML {
		m.outputs = append(m.outputs, htmlOutput)
	}
	v, failed := m.load(e, c, args)
	if v == nil {
		return failed
	}
	doc := mask(report.Build(v.summary, v.result))
	// The files come first. A reader that closes stdout early, for example head, must
	// not prevent the report.
	names, err := writeReport(*dir, doc, files)
	if err != nil {
		return fmt.Errorf("cannot write the report: %w", diag.PathOnly(err))
	}
	if err := e.print(part.part(summaryFormats(*brief, *full).named(format).render(doc))); err != nil {
		return err
	}
	e.say("wrote %s and %s in %s", filepath.Join(*dir, names[0]), plural(len(names)-1, "more file", "more files"), *dir)
	return failed
}

// pictureFlag registers the flag that chooses the files of pictures.
func pictureFlag(flags *pflag.FlagSet) *string {
	form := new(string)
	choose(flags, form, "picture-format", "", "png", "`FORMAT` of the pictures that Markdown shows: %s",
		[]word{{"png", ""}, {"svg", "sharp at any size"}, {"both", "the PNG, with a link to the SVG"}})
	return form
}

// isTerminal reports whether a reader or writer is a terminal.
func isTerminal(stream any) bool {
	if s, ok := stream.(*screen); ok {
		stream = s.Writer
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
