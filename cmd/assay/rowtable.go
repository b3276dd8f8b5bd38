package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/analyze/events"
	"assay/internal/diag"
	"assay/internal/tabular"
	"assay/report/rowfile"
	"assay/summary"
	"assay/summary/columns"
)

func tableCommand() *command {
	return &command{
		name: "table", args: "INPUT... [NAME...]",
		does: "print rows of a run as tables for other programs: CSV, Parquet, JSON, Markdown",
		example: `  assay table trace.json.gz                        # which tables there are
  assay table trace.json.gz kernels -o kernels.csv
  assay table traces/ all --format parquet -o tables
  assay table trace.json.gz kernels --where 'category=gemm and total_ns>1ms' --by op,rank --sort -total_ns --top 20
  assay table --list
`,
		run: runTable,
	}
}

// allTables names every table of a summary that has rows.
const allTables = "all"

// A rowTables has the flags of the table command.
type rowTables struct {
	measure
	names  []string
	format string
	dir    string
	file   string // the only file in dir, if --output names one
	python bool
	query  rowQuery
}

func runTable(e env, c *command, args []string) error {
	var rt rowTables
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	rowFormats().flag(flags, &rt.format)
	flags.StringVarP(&rt.dir, "output", "o", "", "`DIR` for one file per table, or the file of one table, such as kernels.csv; without it one table goes to standard output")
	flags.BoolVar(&rt.python, "python", false, "in the table events: also Python functions and modules")
	rt.query.register(flags)
	list := flags.Bool("list", false, "list every table, or describe the columns of those that are named, and read no input")
	rt.register(flags)
	rt.window.register(flags)
	rt.peaks.register(flags)
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	inputs, names := splitTables(args, *list)
	rt.names = names
	if *list {
		if len(inputs) > 0 {
			return usageError(e, c, "--list reads no input; leave out "+inputs[0]+", or leave out --list for the tables that it has")
		}
		return e.print(mask(names).as(listTables))
	}
	wrong := rt.check(e, flags.Changed("output"), inputs)
	if wrong == "" {
		wrong = rt.chooseFile(flags.Changed("format"))
	}
	if wrong == "" {
		wrong = rt.query.check(flags, rt.names, rt.format)
	}
	if wrong != "" {
		return usageError(e, c, wrong)
	}
	if rt.dir != "" {
		if err := keepInputs(e, c, "tables", rt.dir, rt.files(columns.Sources()), append(rt.settings(), inputs...)); err != nil {
			return err
		}
		rt.writesTo(rt.dir, rt.files(columns.Sources()))
	}
	rt.outputs = []output{jsonOutput}
	if slices.Contains(rt.names, "details") {
		rt.outputs = append(rt.outputs, detailOutput)
	}
	if slices.ContainsFunc(rt.names, func(name string) bool { return name == "critical_paths" || name == "forecasts" }) {
		rt.outputs = append(rt.outputs, pathOutput)
	}
	if slices.Contains(rt.names, events.Name) {
		return rt.events(e, c, inputs)
	}
	v, failed := rt.load(e, c, inputs)
	if v == nil {
		return failed
	}
	return errors.Join(failed, rt.write(e, c, mask(v.summary)))
}

// splitTables separates the names of tables from inputs. The first argument is an input, unless all are names; a later
// file of such a name is written with its folder: "./kernels".
func splitTables(args []string, all bool) (inputs, names []string) {
	sources := columns.Sources()
	for i, arg := range args {
		parts := strings.Split(arg, ",")
		known := func(name string) bool {
			return name == allTables || name == events.Name || slices.ContainsFunc(sources, func(s columns.Source) bool { return s.Name == name })
		}
		if i == 0 && !all || slices.ContainsFunc(parts, func(name string) bool { return !known(name) }) {
			inputs = append(inputs, arg)
			continue
		}
		names = append(names, parts...)
	}
	return inputs, names
}

// check returns a message if the arguments are wrong, or "".
func (rt *rowTables) check(e env, toDir bool, inputs []string) string {
	several := len(rt.names) > 1 || slices.Contains(rt.names, allTables)
	switch {
	case rt.python && !slices.Contains(rt.names, events.Name):
		return "--python is for the table events"
	case several && slices.Contains(rt.names, events.Name):
		return "the table events is of the traces and not of their summary: ask for it by itself"
	case len(inputs) == 0:
		return "no input: name a trace or a summary, and the tables: assay table trace.json.gz kernels; --list describes them"
	case toDir && rt.dir == "":
		return "-o is empty; name a directory"
	case toDir && len(rt.names) == 0:
		return "-o needs the names of tables, or all"
	case several && !toDir:
		return "several tables need a directory: add -o DIR"
	case rt.format == "parquet" && !toDir && len(rt.names) > 0 && isTerminal(e.stdout):
		return "Parquet is binary and standard output is a terminal: name a directory with -o, or use a pipe"
	}
	return ""
}

// chooseFile finds out whether --output names the file of one table, whose format it then says. It returns a message
// if it cannot, or "".
func (rt *rowTables) chooseFile(formatGiven bool) string {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(rt.dir), "."))
	i := slices.IndexFunc(rowFormats(), func(f format[tabular.Table]) bool { return f.name == ext })
	if info, err := os.Stat(rt.dir); rt.dir == "" || i < 0 || err == nil && info.IsDir() {
		return ""
	}
	switch {
	case len(rt.names) > 1 || slices.Contains(rt.names, allTables):
		return fmt.Sprintf("-o %s is the file of one table; name one, or a directory for several", rt.dir)
	case formatGiven && rt.format != ext:
		return fmt.Sprintf("-o %s is for %s, but --format is %s", rt.dir, ext, rt.format)
	}
	rt.dir, rt.file, rt.format = filepath.Dir(rt.dir), filepath.Base(rt.dir), ext
	return ""
}

// files returns the names of the files of tables.
func (rt *rowTables) files(sources []columns.Source) (names []string) {
	if rt.file != "" {
		return []string{rt.file}
	}
	if slices.Contains(rt.names, events.Name) {
		return []string{events.Name + "." + rt.format}
	}
	for _, s := range sources {
		names = append(names, s.Name+"."+rt.format)
	}
	return names
}

// write writes the tables that are asked for, or lists those that have rows.
func (rt *rowTables) write(e env, c *command, s masked[*summary.Summary]) error {
	if len(rt.names) == 0 {
		return e.print(s.as(listRows))
	}
	var sources []columns.Source
	for _, src := range columns.Sources() {
		asked := slices.Contains(rt.names, src.Name)
		empty := src.Len(s.value) == 0
		if asked && empty {
			e.say("assay %s: the run has no %s", c.name, src.Name)
		}
		if asked || !empty && slices.Contains(rt.names, allTables) {
			sources = append(sources, src)
		}
	}
	encode := rowFormats().named(rt.format).write
	if rt.dir == "" {
		return e.print(s.as(func(s *summary.Summary, w io.Writer) error { return encode(rt.query.of(sources[0].Table(s)), w) }))
	}
	var files []namedResult
	for i, name := range rt.files(sources) {
		files = append(files, namedResult{name, s.as(func(s *summary.Summary, w io.Writer) error { return encode(rt.query.of(sources[i].Table(s)), w) })})
	}
	return rt.writeFiles(e, files)
}

// writeFiles writes the files of tables, all or none.
func (rt *rowTables) writeFiles(e env, files []namedResult) error {
	out := newWriter()
	defer out.stop()
	err := out.dir(rt.dir)
	if err == nil {
		err = out.stageAll(rt.dir, files)
	}
	if err == nil {
		err = out.commit()
	}
	if err != nil {
		return fmt.Errorf("cannot write the tables: %w", diag.PathOnly(err))
	}
	if rt.file != "" {
		e.say("wrote %s", filepath.Join(rt.dir, rt.file))
		return nil
	}
	e.say("wrote %s in %s", plural(len(files), "table", "tables"), filepath.Clean(rt.dir))
	return nil
}

// listRows prints the tables of a run that have rows, and that of single events, which nobody has counted.
func listRows(s *summary.Summary, w io.Writer) error {
	if len(s.Devices) > 0 || len(s.Ops) > 0 {
		if _, err := fmt.Fprintf(w, "%8s  %-22s %s\n", "-", events.Name, rowfile.Line(events.Says, 66)); err != nil {
			return err
		}
	}
	for _, src := range columns.Sources() {
		if n := src.Len(s); n > 0 {
			if _, err := fmt.Fprintf(w, "%8d  %-22s %s\n", n, src.Name, rowfile.Line(src.Says, 66)); err != nil {
				return err
			}
		}
	}
	return nil
}

// listTables lists all tables in a line each, or describes those of the given names with their columns.
func listTables(names []string, w io.Writer) error {
	if len(names) == 0 {
		lines := [][3]string{{events.Name, plural(len(events.Columns()), "column", "columns"), events.Says}}
		for _, src := range columns.Sources() {
			lines = append(lines, [3]string{src.Name, plural(len(src.Columns()), "column", "columns"), src.Says})
		}
		for _, l := range lines {
			if _, err := fmt.Fprintln(w, rowfile.Line(fmt.Sprintf("%-22s %10s  %s", l[0], l[1], l[2]), 100)); err != nil {
				return err
			}
		}
		return nil
	}
	if slices.Contains(names, events.Name) || slices.Contains(names, allTables) {
		if err := rowfile.Describe(tabular.Table{Name: events.Name, Says: events.Says, Columns: events.Columns()}, w); err != nil {
			return err
		}
	}
	for _, src := range columns.Sources() {
		if !slices.Contains(names, src.Name) && !slices.Contains(names, allTables) {
			continue
		}
		if err := rowfile.Describe(tabular.Table{Name: src.Name, Says: src.Says, Columns: src.Columns()}, w); err != nil {
			return err
		}
	}
	return nil
}
