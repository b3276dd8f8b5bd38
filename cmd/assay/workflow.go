package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"assay/internal/outfile"
	"assay/report/check"
)

// inGitHub reports whether the process runs in a GitHub workflow.
func inGitHub() bool { return os.Getenv("GITHUB_ACTIONS") == "true" }

// inRunner reports whether the process runs in a workflow of GitHub or of Azure Pipelines.
func inRunner() bool { return inGitHub() || os.Getenv("TF_BUILD") != "" }

// commandMarks begin commands of a runner anywhere in a line: those of GitHub and of Azure Pipelines.
var commandMarks = []string{"##[", "##vso["}

// inert escapes a result so that the runner of a workflow does not execute parts of it. The runner
// reads commands from the output of a step: lines that begin with "::" after blanks, and the
// [commandMarks]. Names of kernels and files may contain both. In JSON and XML the character is written
// in its escaped form, so that the values do not change.
func (r result) inert() result {
	if r.format == "" || !inRunner() {
		return r
	}
	return result{encode: func(w io.Writer) error {
		var text bytes.Buffer
		if err := r.encode(&text); err != nil {
			return err
		}
		_, err := io.WriteString(w, inertText(text.String(), r.format))
		return err
	}}
}

func inertText(text, format string) string {
	switch format {
	case "json", "benchmark", "benchmark-bigger":
		return inertMarks(text, `\u0023`)
	case "junit":
		return inertMarks(text, "&#35;")
	}
	text = inertMarks(text, `\#`)
	var b strings.Builder
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, " \t\r\v\f\u00a0"); strings.HasPrefix(rest, "::") {
			line = line[:len(line)-len(rest)] + `\` + rest
		}
		b.WriteString(line)
	}
	return b.String()
}

// inertMarks replaces the second character of each mark.
func inertMarks(text, second string) string {
	for _, mark := range commandMarks {
		text = strings.ReplaceAll(text, mark, "#"+second+mark[2:])
	}
	return text
}

// setOutputs adds outputs of a step to the file that the runner reads, one per line. The values
// contain no line breaks.
func setOutputs(c masked[check.Report]) error {
	path := os.Getenv("GITHUB_OUTPUT")
	if path == "" {
		return nil
	}
	return outfile.Append(path, func(w io.Writer, _ int64) error {
		for _, o := range c.value.Outputs() {
			if _, err := fmt.Fprintf(w, "%s=%s\n", o[0], strings.Join(strings.Fields(o[1]), " ")); err != nil {
				return err
			}
		}
		return nil
	})
}
