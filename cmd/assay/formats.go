package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"assay/analyze/inspect"
	"assay/analyze/whatif"
	"assay/internal/jsonscan"
	"assay/internal/profile"
	"assay/internal/tabular"
	"assay/report"
	"assay/report/check"
	"assay/report/inspection"
	"assay/report/nsystables"
	"assay/report/rowfile"
	"assay/report/show"
	whatifdoc "assay/report/whatif"
)

// This file lists the formats of each command, one row per format. The words of --format, its help,
// the error for other words, what is measured, and the function that writes the result follow from the rows.

// format is one form in which a command prints a T.
type format[T any] struct {
	name  string
	note  string                   // shown in parentheses in the help
	needs output                   // selects what is measured, see [needs]
	file  string                   // its name in the directory of -o, where each format has a file
	data  bool                     // for other programs, so it is not escaped in the log of a workflow
	write func(T, io.Writer) error // nil if the command writes this format without a T
}

// formats are the formats of one command. The first is the default.
type formats[T any] []format[T]

func summaryFormats(brief, full bool) formats[report.Report] {
	md := format[report.Report]{name: "md", needs: mdOutput, write: report.Report.StepSummary}
	if brief {
		md.needs, md.write = pageOutput, report.Report.BriefMarkdown
	}
	return formats[report.Report]{
		{name: "text", needs: screenOutput, write: onScreen(report.Report.Text)},
		md,
		{name: "json", needs: jsonOutput, write: func(d report.Report, w io.Writer) error { return d.RolledUp(full).JSON(w) }},
	}
}

// tableFormats are the formats of "assay summary --table", which prints the given number of reports
// for each input. Notes on the numbers are passed to say.
func tableFormats(reports int, say func(line string)) (list formats[nsystables.Output]) {
	for _, name := range []string{"text", "csv", "md"} {
		list = append(list, format[nsystables.Output]{name: name, data: true, write: func(all nsystables.Output, w io.Writer) error {
			return all.Write(w, name, reports, say)
		}})
	}
	return list
}

// groupingFormats are the formats of --by and --where.
func groupingFormats() formats[show.Answer] {
	return formats[show.Answer]{
		{name: "text", write: onScreen(show.Answer.Text)},
		{name: "md", write: show.Answer.StepSummary},
		{name: "json", write: show.Answer.JSON},
		{name: "csv", data: true, write: show.Answer.CSV},
	}
}

// rowFormats are the formats of "assay table". A file is named after the table and the format.
func rowFormats() formats[tabular.Table] {
	return formats[tabular.Table]{
		{name: "csv", note: "RFC 4180", data: true, write: rowfile.CSV},
		{name: "parquet", note: "for DuckDB, Polars, pandas, Spark", data: true, write: rowfile.Parquet},
		{name: "json", write: rowfile.JSON},
		{name: "md", data: true, write: rowfile.Markdown},
	}
}

func diffFormats(brief bool) formats[report.Report] {
	list := summaryFormats(brief, false)
	list[0].needs, list[1].needs, list[2].needs = diffOutput, diffMDOutput, diffJSONOutput
	return append(list, format[report.Report]{name: "csv", note: "all rows in one table", needs: diffOutput, data: true, write: report.Report.CSV})
}

func historyFormats() formats[report.Report] {
	return formats[report.Report]{
		{name: "text", write: onScreen(report.Report.Text)},
		{name: "md", write: report.Report.StepSummary},
		{name: "json", write: report.Report.JSON},
	}
}

func checkFormats() formats[check.Report] {
	benchmark := func(higher bool) func(check.Report, io.Writer) error {
		return func(c check.Report, w io.Writer) error { return c.Benchmark(w, higher) }
	}
	return formats[check.Report]{
		{name: "text", needs: checkOutput, write: onScreen(check.Report.Text)},
		{name: "md", needs: checkFileOutput, file: "check.md", write: check.Report.Markdown},
		{name: "json", needs: checkFileOutput, file: "check.json", write: check.Report.JSON},
		{name: "junit", needs: checkFileOutput, file: "junit.xml", write: check.Report.JUnit},
		{name: "benchmark", needs: checkFileOutput, file: "benchmark.json", write: benchmark(false)},
		{name: "benchmark-bigger", needs: checkFileOutput, file: "benchmark-bigger.json", write: benchmark(true)},
	}
}

// metricFormats are the formats of "assay check --explain".
func metricFormats() formats[check.Explanation] {
	return formats[check.Explanation]{
		{name: "text", write: onScreen(check.Explanation.Text)},
		{name: "md", write: check.Explanation.Markdown},
		{name: "json", write: check.Explanation.JSON},
	}
}

func explainFormats() formats[explanation] {
	return formats[explanation]{
		{name: "text", write: explanation.text},
		{name: "md", write: explanation.markdown},
		{name: "json", write: explanation.json},
	}
}

func doctorFormats() formats[examination] {
	return formats[examination]{
		{name: "text", needs: doctorOutput, write: onScreen(examination.Text)},
		{name: "md", needs: doctorOutput, write: examination.StepSummary},
		{name: "json", needs: doctorJSONOutput, write: func(x examination, w io.Writer) error { return jsonscan.Write(w, x.Data) }},
	}
}

func whatifFormats(all bool) formats[*whatif.Answer] {
	return formats[*whatif.Answer]{
		{name: "text", write: onScreen(func(a *whatif.Answer, w io.Writer, columns int) error { return whatifdoc.Doc(a, all).Text(w, columns) })},
		{name: "md", write: func(a *whatif.Answer, w io.Writer) error { return whatifdoc.Doc(a, all).StepSummary(w) }},
		{name: "json", write: func(a *whatif.Answer, w io.Writer) error { return jsonscan.Write(w, a) }},
	}
}

func inspectFormats() formats[*inspect.Answer] {
	return formats[*inspect.Answer]{
		{name: "text", write: onScreen(func(a *inspect.Answer, w io.Writer, columns int) error { return inspection.Doc(a).Text(w, columns) })},
		{name: "md", write: func(a *inspect.Answer, w io.Writer) error { return inspection.Doc(a).StepSummary(w) }},
		{name: "json", write: func(a *inspect.Answer, w io.Writer) error { return jsonscan.Write(w, a) }},
	}
}

// convertFormats are the values of --to. A timeline has no write function, because it is copied
// from the inputs event by event and never becomes a profile, and neither does a page.
func convertFormats() formats[*profile.Profile] {
	return formats[*profile.Profile]{
		{name: "pprof", note: "a gzip'd profile.proto", needs: profileOutput, write: (*profile.Profile).WritePprof},
		{name: "folded", note: `lines of "a;b;c nanoseconds"`, needs: profileOutput, write: func(p *profile.Profile, w io.Writer) error { return p.WriteFolded(w, p.Default) }},
		{name: toChrome, note: "one timeline of all ranks, for Perfetto", needs: timelineOutput},
		{name: toPage, note: "the page of assay report alone, in one file", needs: htmlOutput},
	}
}

func (list formats[T]) words() (out []word) {
	for _, f := range list {
		out = append(out, word{f.name, f.note})
	}
	return out
}

func (list formats[T]) flag(flags *pflag.FlagSet, to *string) {
	choose(flags, to, "format", "f", list[0].name, "`FORMAT` of the output: %s", list.words())
}

// named returns the format with a name, or the zero format if there is none.
func (list formats[T]) named(name string) (f format[T]) {
	if i := slices.IndexFunc(list, func(f format[T]) bool { return f.name == name }); i >= 0 {
		f = list[i]
	}
	return f
}

// files returns the names of the files in the directory of -o.
func (list formats[T]) files() (names []string) {
	for _, f := range list {
		if f.file != "" {
			names = append(names, f.file)
		}
	}
	return names
}

// render returns the output of v in this format.
func (f format[T]) render(v masked[T]) result {
	if f.data {
		return v.as(f.write)
	}
	return v.in(f.name, f.write)
}

// tabulates checks the format of "assay summary", whose formats are different with --table and with
// --by. It returns a message if the format is wrong, or "".
func tabulates(format string, tables, groups bool) string {
	switch {
	case tables && tableFormats(0, nil).named(format).name == "":
		return fmt.Sprintf("--format is %q, want %s with --table", format, either(names(tableFormats(0, nil).words())))
	case !tables && !groups && summaryFormats(false, false).named(format).name == "":
		return fmt.Sprintf("--format is %q, which needs --table or --by; name a table, or keys", format)
	}
	return ""
}
