package main

import (
	"github.com/spf13/pflag"

	"assay/ingest"
	"assay/judge/doctor"
	"assay/judge/rule"
	"assay/report"
	"assay/summary"
)

// doctorSchema names the layout of the JSON of a capture check.
const doctorSchema = "assay/doctor/1"

func doctorCommand() *command {
	return &command{
		name: "doctor", args: "[INPUT...]",
		does: "list what a capture can and cannot answer, and how to record a better one",
		example: `  assay doctor trace.json.gz
  zcat trace.json.gz | assay doctor
  assay doctor DIR_OF_TRACES --format json | jq '.answers[] | select(.can != "yes")'
`,
		run: runDoctor,
	}
}

func runDoctor(e env, c *command, args []string) error {
	var m measure
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	var format string
	doctorFormats().flag(flags, &format)
	var part excerpting
	part.register(flags)
	m.register(flags)
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	if wrong := part.check(flags, format, "doctor"); wrong != "" {
		return usageError(e, c, wrong)
	}
	if len(args) == 0 {
		if isTerminal(e.stdin) {
			return usageError(e, c, "no input: name a trace, or pipe one in")
		}
		args = []string{ingest.Stdin}
	}
	to := doctorFormats().named(format)
	m.outputs = []output{doctorOutput, to.needs}
	v, failed := m.load(e, c, args)
	if v == nil {
		return failed
	}
	if err := e.print(part.part(to.render(mask(v.examined())))); err != nil {
		return err
	}
	return failed
}

// examination is the result of the doctor command, as a document and as data.
type examination struct {
	report.Report
	Data examined // exported, because secrets are masked in exported fields only
}

// examined is the JSON of an examination.
type examined struct {
	Schema  string          `json:"schema"`
	Inputs  []summary.Input `json:"inputs"`
	Stacks  []rule.Stack    `json:"stacks"`
	Answers []doctor.Answer `json:"answers"`
	Issues  []summary.Issue `json:"issues"`
}

func (v *verdict) examined() examination {
	answers := doctor.Examine(v.summary, v.result)
	return examination{report.Doctor(v.summary, v.result, answers), examined{doctorSchema, v.summary.Inputs, v.result.Stacks, answers, v.summary.Issues}}
}
