package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"

	"assay/analyze/classify"
	"assay/analyze/efficiency/hardware"
	"assay/analyze/nsysstats"
	"assay/analyze/phase"
	"assay/docs"
	"assay/judge/rule"
	"assay/logs/forms"
)

func usage(w io.Writer) {
	fmt.Fprint(w, "assay analyzes GPU traces and profiles: time breakdown, bottleneck, fixes.\n\nUsage:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  assay %-8s %-24s %s\n", c.name, c.args, c.does)
	}
	fmt.Fprint(w, `  assay help     [COMMAND]                flags and examples
  assay help     rules|phases|series|devices|thresholds|gates
                                          how to write such a file, and the built-in one
  assay help     tables                   the reports that --table prints
  assay help     PAGE                     a page of the manual; "assay help pages" lists them
  assay version

`)
	fmt.Fprint(w, "Pages: "+strings.Join(pageNames(), ", ")+`.

An input is a file, a directory, a pattern, or "-" for standard input. assay
decompresses .gz and .zst files. Exit status: 0 done, 1 a gate failed, 2 wrong usage,
3 an input could not be read or judged, or the result could not be written.
`)
}

// help explains assay, one of its commands or the format of a file, or prints a page
// of the manual.
func help(e env, args []string) int {
	if len(args) == 0 {
		return e.page("help", usage)
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return exitStatus(e, c, c.run(e, c, []string{"--help"}))
		}
	}
	for _, t := range topics() {
		if t.name == args[0] {
			return e.page("help", func(w io.Writer) { fmt.Fprint(w, t.text, t.file()) })
		}
	}
	for _, p := range docs.Pages() {
		if p.Name == args[0] {
			return e.page("help", func(w io.Writer) { fmt.Fprint(w, p.Text) })
		}
	}
	e.say("assay help: unknown command or page %q; run \"assay help\" for the list", args[0])
	return exitUsage
}

// page prints a text that does not depend on any input, such as help. It returns the exit status.
func (e env) page(name string, write func(io.Writer)) int {
	err := e.print(mask(write).as(func(write func(io.Writer), w io.Writer) error { write(w); return nil }))
	if err != nil {
		e.say("assay %s: %s", name, err)
		return exitTrouble
	}
	return exitOK
}

func pageNames() []string {
	var names []string
	for _, p := range docs.Pages() {
		names = append(names, p.Name)
	}
	return names
}

// pageList returns one line for each page: its name and its title.
func pageList() string {
	var b strings.Builder
	for _, p := range docs.Pages() {
		fmt.Fprintf(&b, "  %-12s %s\n", p.Name, p.Title)
	}
	return b.String()
}

func helpFor(w io.Writer, c *command, flags *pflag.FlagSet) {
	fmt.Fprintf(w, "assay %s %s\n\n%s.\n\nFlags:\n%s\nExample:\n%s", c.name, c.args,
		strings.ToUpper(c.does[:1])+c.does[1:], flags.FlagUsages(), c.example)
}

// topic explains a file that users write, or lists names that users can pass.
type topic struct {
	name, title, text string
	file              func() string // the built-in file, as an example, or the list
}

func topics() []topic {
	return []topic{{"rules", "Files of kernel rules", `A rule file classifies kernels by their names. Its rules are tried in order, before
the built-in rules. The first rule that matches decides.

  rules:
  - id: my-attention            # unique; shown with every kernel that it classifies
    category: attention         # a known word, or a new one
    match: ['^my_fused_attn']   # RE2 expressions on the name without its arguments
  - id: my-allreduce
    class: comm                 # default: compute
    category: all-reduce
    match: [my_all_reduce]

Use it with --rules FILE. The built-in file:

`, classify.BuiltIn}, {"phases", "Files of rules for steps and phases", `A phase file names the annotations and NVTX ranges that mark steps and phases. Its
rules are tried in order, before the built-in rules. The first rule that matches
decides.

  rules:
  - id: my-step                 # unique
    step: marker                # the step ends with its marker; "work": it ends with the work launched in it
    match: ['^my_step_(?P<number>\d+)$']
  - id: my-rollout
    phase: generation           # a known word, or a new one
    match: ['^my_rollout$']

Use it with --phases FILE. The built-in file:

`, phase.BuiltIn}, {"series", "Files of forms of log lines, and the metrics of logs", `A file of forms makes the lines of a log readable. Each form has an anchor: a text that
every line of the form has. By default, all "key=value" and "key: value" of the line are
read; fields give a key its metric and unit. Forms of the file are tried before the
built-in forms.

  forms:
  - id: my-loop                 # unique
    anchor: ["reward_mean="]    # 4 to 64 bytes
    fields:
      dt: step.time s           # a metric of the list below, and the unit of the values
      speed: my.speed token/s higher   # a metric of your own, and the direction in which it improves

For other lines, set "split" (between pairs) and "is" (between a key and its value), or
"match", an RE2 expression with named groups. "step" is the key of the step, "first" for
the number at the beginning, or "after TEXT". Use it with --series-forms FILE. The
metrics, and the built-in forms:

`, forms.List}, {"devices", "Files of peaks of GPUs, and the built-in peaks", `A file of devices has the peaks of GPUs. A figure of the file replaces the built-in one of
the same device; figures that the file does not give stay.

  devices:
  - name: NVIDIA H100 80GB HBM3   # as the capture has it; several as [A, B]
    peak: {bf16: 800, hbm: 3000}
  - name: My accelerator
    spec: {sms: 96}               # a GPU with fewer SMs is a partition, with less of the rates
    peak: {fp32: 60, fp16: 480, bf16: 480, fp8: 960, hbm: 4000, link: 300, pcie: 63}
    source: data sheet

Rates (fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8) are dense, in 10^12 operations/s.
Bandwidths (hbm, link, pcie, c2c) are in 10^9 bytes/s, those of links in one direction.
Use it with --peaks FILE, or set figures of all GPUs with --set-peak bf16=800,hbm=3000.
"assay help peaks" explains what is done with them. The built-in file:

`, func() string { return string(hardware.BuiltIn()) }}, {"thresholds", "Files of limits of the verdict's rules", `A threshold file sets limits of the verdict's rules. Limits that the file does not
set keep their built-in value.

  exposed-communication:
    warn: 5%
    critical: 15%

Use it with --thresholds FILE. The built-in file:

`, rule.BuiltIn}, {"tables", "Reports of nsys stats", `"assay summary --table NAME[,NAME...]" prints reports of "nsys stats", computed from
any trace that assay reads. Columns, units, decimals and order are those of "nsys
stats". The NVTX reports cover every range that the program marked. Names, names
before 2023, and titles:

`, nsysstats.List}, {"gates", "Files of gates, and all metrics", gatesHelp, gatesFile},
		{"pages", "The pages of the manual", "The pages of the manual. \"assay help NAME\" prints one, as Markdown:\n\n", pageList}}
}

// version returns the module version that Go stamped into the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
