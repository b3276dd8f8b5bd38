package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"

	"assay/analyze/nsysstats"
	"assay/classify"
	"assay/judge"
	"assay/phase"
)

func usage(w io.Writer) {
	fmt.Fprint(w, "assay tells where the time of a GPU program went, from the traces of its profiler.\n\nUsage:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  assay %-8s %-24s %s\n", c.name, c.args, c.does)
	}
	fmt.Fprint(w, `  assay help     [COMMAND]                flags and examples
  assay help     rules|phases|thresholds|gates
                                          how to write such a file, and the built-in one
  assay help     tables                   what --table prints
  assay explain  CODE                     what an issue in a report means
  assay version

An input is a file, a directory, a pattern, or "-" for standard input; .gz and
.zst are read as they are. Exit status: 0 done, 1 a gate failed, 2 wrong usage,
3 an input could not be read or judged, or the result could not be written.
`)
}

// help explains assay or one of its commands.
func help(e env, args []string) int {
	if len(args) == 0 {
		return e.page(usage)
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return exitStatus(e, c, c.run(e, c, []string{"--help"}))
		}
	}
	for _, t := range topics() {
		if t.name == args[0] {
			return e.page(func(w io.Writer) { fmt.Fprint(w, t.text, t.file()) })
		}
	}
	e.say("assay help: unknown command %q; run \"assay help\" for the list", args[0])
	return exitUsage
}

// page prints what depends on no input. It returns the exit status.
func (e env) page(write func(io.Writer)) int {
	err := e.print(mask(write).as(func(write func(io.Writer), w io.Writer) error { write(w); return nil }))
	if err != nil {
		e.say("assay: %s", err)
		return exitTrouble
	}
	return exitOK
}

func helpFor(w io.Writer, c *command, flags *pflag.FlagSet) {
	fmt.Fprintf(w, "assay %s %s\n\n%s.\n\nFlags:\n%s\nExample:\n%s", c.name, c.args,
		strings.ToUpper(c.does[:1])+c.does[1:], flags.FlagUsages(), c.example)
}

// A topic is a page of help on a file that users write.
type topic struct {
	name, text string
	file       func() string // the built-in one, which shows how
}

func topics() []topic {
	return []topic{{"rules", `A rule file says what kernels are for, by their names. Its rules are tried, in
order, before the built-in ones; the first that matches wins.

  rules:
  - id: my-attention            # unique; shown with every kernel that it decides
    category: attention         # a known word, or a new one
    match: ['^my_fused_attn']   # RE2 expressions on the name without its arguments
  - id: my-allreduce
    class: comm                 # compute, if left out
    category: all-reduce
    match: [my_all_reduce]

Use it with --rules FILE. The built-in file:

`, classify.BuiltIn}, {"phases", `A phase file says which annotations and NVTX ranges mark steps and phases. Its
rules are tried, in order, before the built-in ones; the first that matches wins.

  rules:
  - id: my-step                 # unique
    step: marker                # as long as its marker; or work, for hosts that run ahead
    match: ['^my_step_(?P<number>\d+)$']
  - id: my-rollout
    phase: generation           # a known word, or a new one
    match: ['^my_rollout$']

Use it with --phases FILE. The built-in file:

`, phase.BuiltIn}, {"thresholds", `A threshold file sets limits of the verdict's rules. What it leaves out keeps its
built-in limit.

  exposed-communication:
    warn: 5%
    critical: 15%

Use it with --thresholds FILE. The built-in file:

`, judge.BuiltIn}, {"tables", `With --table NAME[,NAME...] "assay summary" prints the reports that "nsys stats"
prints, with the same columns, units, decimals and order, but of any trace that
it reads. What says NVTX is then every range that the program marked. The names,
what they were called before 2023, and their titles:

`, nsysstats.List}, {"gates", gatesHelp, gatesFile}}
}

// version returns the module version that Go stamped into the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
