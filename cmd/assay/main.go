// Assay analyzes GPU traces and profiles: time breakdown, bottleneck, fixes.
//
// Usage:
//
//	assay report  INPUT... [-o DIR]   verdict on stdout; report.md, summary.json and pictures in DIR
//	assay summary [INPUT...]          the same measurements on stdout; reads stdin if no input is given
//	assay diff    BASE NEW            what changed between two runs, and where
//	assay check   INPUT... [--baseline FILE...] [--gates FILE]   checks a run against targets and a baseline
//	assay accept  INPUT... --baseline DIR --reason TEXT          makes a run the baseline, and records the reason
//	assay merge   INPUT... -o DIR     merges what "assay summary --save" wrote on several machines
//	assay convert [INPUT...] --to F   GPU or CPU time by stack as pprof or folded stacks
//	assay inspect [INPUT...] QUESTION shows single events: of a kernel, an operator, a gap or a moment
//	assay table   INPUT... [NAME...]  rows of a run as tables: CSV, Parquet, JSON, Markdown
//	assay whatif  [INPUT...] [CHANGE...]  what a step waited for, and how long it would take after a change
//	assay trim    [INPUT...] -o FILE  a part of a trace as a smaller trace
//	assay open    INPUT... [--at TIME]  opens a trace in Perfetto, or report.html, from a page on this machine
//	assay explain [RULE...]           explains a rule or an issue code
//	assay schema  [NAME]              the JSON Schema of an output
//	assay mcp     [FOLDER...]         answers a language model by the Model Context Protocol
//	assay doctor  [INPUT...]          what a capture can and cannot answer, and how to record a better one
//	assay help [COMMAND]              flags and examples
//	assay help rules | thresholds | gates   how to write such a file, and the built-in one
//	assay help tables                 what --table prints
//	assay version
//
// An input is a file, a directory, a pattern, or "-" for standard input.
// Compression and format are found by content, not by name.
//
// Results go to standard output, messages to standard error. Exit status is 0 if
// assay succeeded, 1 if a gate failed, 2 for a usage error, and 3 if an
// input could not be read, judged or compared or the result could not be written.
// After a signal there is no unfinished file; the exit status is 128 plus the number of
// the signal.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"

	_ "assay/internal/early" // checks the address space
	"assay/internal/query"
	"assay/internal/redact"
	"assay/trace/window"
)

// The exit statuses.
const (
	exitOK      = 0
	exitGate    = 1
	exitUsage   = 2
	exitTrouble = 3
)

// An env has the streams of a command, so that tests can run commands without a process.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

func main() {
	if err := checkSystem(); err != nil {
		env{stderr: os.Stderr}.say("assay: %s", err)
		os.Exit(exitTrouble)
	}
	endOnQuit()
	// Nearly all memory is in tables that are used until the end, so frequent garbage
	// collection costs 5% of the time and frees little.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(usualGC)
	}
	os.Exit(run(env{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}

// usualGC is by how many percent the heap may grow between collections.
const usualGC = 400

// command is one subcommand.
type command struct {
	name, args, does string
	example          string // a command line; a test runs it, and its output is in the help
	run              func(e env, c *command, args []string) error
	needs            func(need) need // changes what is measured, for tests; nil for what the outputs need
}

// commands lists the verbs in the order that help shows them in.
func commands() []*command {
	return []*command{reportCommand(), summaryCommand(), diffCommand(), historyCommand(), checkCommand(), acceptCommand(), mergeCommand(), convertCommand(), inspectCommand(), tableCommand(), whatifCommand(), trimCommand(), openCommand(), explainCommand(), doctorCommand(), schemaCommand(), mcpCommand(), completionCommand()}
}

// errUsage ends a command whose usage error is printed already.
var errUsage = errors.New("usage")

func run(e env, args []string) int {
	e.stdout = newScreen(e.stdout)
	if len(args) == 0 {
		usage(e.stderr)
		return exitUsage
	}
	e.stderr = hiding(e.stderr, args)
	switch args[0] {
	case "help", "-h", "--help":
		return help(e, args[1:])
	case "version", "--version":
		if len(args) > 1 {
			e.say("assay version: it takes no argument, but got %q", args[1])
			return exitUsage
		}
		return e.page("version", func(w io.Writer) { fmt.Fprintln(w, "assay", version()) })
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return exitStatus(e, c, c.run(e, c, args[1:]))
		}
	}
	e.say("assay: unknown command %q; %s", args[0], meant(args[0]))
	return exitUsage
}

// meant says what to write instead of a word that is no command.
func meant(word string) string {
	if _, err := os.Stat(word); err == nil {
		return fmt.Sprintf("it is a file or directory: run \"assay summary %s\", or \"assay help\" for the list", word)
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	if near := query.Near(word, names); near != nil {
		return fmt.Sprintf("is it %s? Run \"assay help\" for the list", strings.Join(near, " or "))
	}
	return "run \"assay help\" for the list"
}

// maxErrors limits the number of printed errors, because a directory can have thousands of broken
// files.
const maxErrors = 8

// exitStatus prints the errors, each on a line, and returns the exit status.
func exitStatus(e env, c *command, err error) int {
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return exitOK
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, errGate):
		return exitGate // the report lists the failed gates
	}
	all := together(troubles(err))
	first, last := len(all), len(all)
	if len(all) > maxErrors { // keep the last one: it says what the command could not do
		first, last = maxErrors-1, len(all)-1
	}
	for _, err := range all[:first] {
		e.say("assay %s: %s", c.name, err)
	}
	if last > first {
		e.say("assay %s: %s", c.name, plural(last-first, "more error", "more errors")+" like these")
	}
	for _, err := range all[last:] {
		e.say("assay %s: %s", c.name, err)
	}
	return exitTrouble
}

// troubles returns the errors that err joins, or err itself.
func troubles(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, troubles(e)...)
	}
	return all
}

// together replaces errors of several captures with the same text by one error that counts them.
func together(all []error) (out []error) {
	at := map[string]int{} // where in out the errors of a text are
	count := map[string]int{}
	first := map[string]string{}
	for _, err := range all {
		a := (*window.Absence)(nil)
		if !errors.As(err, &a) {
			out = append(out, err)
			continue
		}
		if count[a.Text]++; count[a.Text] == 1 {
			at[a.Text], first[a.Text] = len(out), a.Name
			out = append(out, err)
			continue
		}
		out[at[a.Text]] = fmt.Errorf("%s and %s: %s", first[a.Text], plural(count[a.Text]-1, "more input", "more inputs"), a.Text)
	}
	return out
}

// parse reads a command's flags and returns the other arguments.
func parse(e env, c *command, flags *pflag.FlagSet, args []string) ([]string, error) {
	flags.SetOutput(io.Discard) // errors are printed here
	flags.Usage = func() {}
	s, onTerminal := e.stdout.(*screen)
	if onTerminal {
		s.flag(flags)
	}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		if onTerminal && s.describe != nil {
			s.describe(flags)
			return nil, err
		}
		if failed := e.print(mask(flags).as(func(flags *pflag.FlagSet, w io.Writer) error { helpFor(w, c, flags); return nil })); failed != nil {
			return nil, failed
		}
		return nil, err
	case err != nil:
		return nil, usageError(e, c, flagMistake(err))
	}
	if onTerminal {
		if message := s.check(flags); message != "" {
			return nil, usageError(e, c, message)
		}
	}
	return flags.Args(), nil
}

// flagMistake returns the message for a wrong flag. For a value of the wrong type pflag prints the
// error of package strconv, which means nothing to a user, so the message says which kind of value
// is wanted.
func flagMistake(err error) string {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	var wrong wrongValue
	if errors.As(bad, &wrong) {
		return "--" + bad.GetFlag().Name + string(wrong)
	}
	want := ""
	switch bad.GetFlag().Value.Type() {
	case "int":
		want = "want a whole number, for example 4"
	case "duration":
		want = "want a number and a unit, for example 90s or 10m"
	case "bool":
		want = "want true or false, or the flag without a value"
	default: // masked before it is quoted
		return fmt.Sprintf("invalid argument %q for \"--%s\" flag: %v", redact.Mask(bad.GetValue()), bad.GetFlag().Name, bad.Unwrap())
	}
	return fmt.Sprintf("--%s is %q, %s", bad.GetFlag().Name, redact.Mask(bad.GetValue()), want)
}

func usageError(e env, c *command, msg string) error {
	e.say("assay %s: %s; run \"assay help %s\"", c.name, msg, c.name)
	return errUsage
}
