// Assay tells where the time of a GPU program went, from the files that its
// profilers left behind.
//
// Usage:
//
//	assay report  INPUT... [-o DIR]   verdict on stdout; report.md, summary.json and pictures in DIR
//	assay summary [INPUT...]          the same measurements to stdout; reads stdin where no input is given
//	assay diff    BASE NEW            which time moved between two runs, and why
//	assay check   INPUT... [--baseline FILE...] [--gates FILE]   holds a run to targets and to a baseline
//	assay accept  INPUT... --baseline DIR --reason TEXT          makes a run the baseline, and says why
//	assay convert [INPUT...] --to F   GPU or CPU time by stack as pprof or folded stacks
//	assay explain [RULE...]           what a rule of the verdict means, and where its limits come from
//	assay doctor  [INPUT...]          what a capture can and cannot answer, and how to record a better one
//	assay help [COMMAND]              flags and examples
//	assay help rules | thresholds | gates   how to write such a file, and the built-in one
//	assay help tables                 what --table prints
//	assay version
//
// An input is a file, a directory, a pattern, or "-" for standard input.
// Compression and format are found by content, not by name.
//
// Results go to standard output, talk to standard error. Exit status is 0 if
// assay did what was asked, 1 if a gate failed, 2 for a usage error, and 3 if an
// input could not be read, judged or compared or the result could not be written.
// A signal to end leaves no unfinished file behind; the status is then 128 and the
// signal's number.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"
)

// The exit statuses.
const (
	exitOK      = 0
	exitGate    = 1
	exitUsage   = 2
	exitTrouble = 3
)

// An env is everything a command may touch outside its arguments, so that
// tests can run commands without a process.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

func main() {
	// Nearly all memory is tables that live to the end: looking for garbage
	// among them as often as usual costs a twentieth of the time.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(usualGC)
	}
	os.Exit(run(env{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}

// usualGC is by how many percent the heap may grow between collections.
const usualGC = 400

// A command is one verb of the command line.
type command struct {
	name, args, does string
	example          string // runs, and its output is in the help
	run              func(e env, c *command, args []string) error
}

// commands lists the verbs in the order that help shows them in.
func commands() []*command {
	return []*command{reportCommand(), summaryCommand(), diffCommand(), checkCommand(), acceptCommand(), convertCommand(), explainCommand(), doctorCommand()}
}

// errUsage ends a command whose mistake has already been explained.
var errUsage = errors.New("usage")

func run(e env, args []string) int {
	if len(args) == 0 {
		usage(e.stderr)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "--help":
		return help(e, args[1:])
	case "version", "--version":
		return e.page(func(w io.Writer) { fmt.Fprintln(w, "assay", version()) })
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return exitStatus(e, c, c.run(e, c, args[1:]))
		}
	}
	e.say("assay: unknown command %q; run \"assay help\" for the list", args[0])
	return exitUsage
}

// exitStatus prints what went wrong, one line for each trouble, and says how
// the process should end.
func exitStatus(e env, c *command, err error) int {
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return exitOK
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, errGate):
		return exitGate // what failed was already said
	}
	for _, err := range troubles(err) {
		e.say("assay %s: %s", c.name, err)
	}
	return exitTrouble
}

// troubles takes an error that joins several apart.
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

// parse reads a command's flags and returns the other arguments.
func parse(e env, c *command, flags *pflag.FlagSet, args []string) ([]string, error) {
	flags.SetOutput(io.Discard) // mistakes are printed here, in our words
	flags.Usage = func() {}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		if e.page(func(w io.Writer) { helpFor(w, c, flags) }) != exitOK {
			return nil, errUsage
		}
		return nil, err
	case err != nil:
		return nil, usageError(e, c, err.Error())
	}
	return flags.Args(), nil
}

func usageError(e env, c *command, msg string) error {
	e.say("assay %s: %s; run \"assay help %s\"", c.name, msg, c.name)
	return errUsage
}
