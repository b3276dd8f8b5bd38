package main

import (
	"io"

	"github.com/spf13/pflag"

	"assay/ingest"
	"assay/internal/jsonscan"
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
	format := flags.StringP("format", "f", "text", "`FORMAT` of the output: text, md or json")
	m.register(flags)
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	if wrong := checkFormat(*format); wrong != "" {
		return usageError(e, c, wrong)
	}
	if len(args) == 0 {
		if isTerminal(e.stdin) {
			return usageError(e, c, "no input: name a trace, or pipe one in")
		}
		args = []string{ingest.Stdin}
	}
	m.outputs = []output{doctorOutput}
	if *format == "json" {
		m.outputs = append(m.outputs, doctorJSONOutput)
	}
	v, failed := m.load(e, c, args)
	if v == nil {
		return failed
	}
	if err := e.print(v.examined(*format)); err != nil {
		return err
	}
	return failed
}

// An examination is the JSON of what the capture can answer.
type examination struct {
	Schema  string          `json:"schema"`
	Inputs  []summary.Input `json:"inputs"`
	Stacks  []rule.Stack    `json:"stacks"`
	Answers []doctor.Answer `json:"answers"`
	Issues  []summary.Issue `json:"issues"`
}

// examined returns the capture check in a format: text, md or json.
func (v *verdict) examined(format string) result {
	answers := doctor.Examine(v.summary, v.result)
	if format != "json" {
		return shown(mask(report.Doctor(v.summary, v.result, answers)), format, false, false)
	}
	return mask(examination{doctorSchema, v.summary.Inputs, v.result.Stacks, answers, v.summary.Issues}).as(func(x examination, w io.Writer) error {
		return jsonscan.Write(w, x)
	})
}
