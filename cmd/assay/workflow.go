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

// inert escapes a result so that the runner of GitHub does not execute parts of it. The runner
// reads commands from the output of a step: lines that begin with "::" after blanks, and "##["
// anywhere. Names of kernels and files may contain both. In JSON and XML the character is written
// in its escaped form, so that the values do not change.
func (r result) inert() result {
	if r.format == "" || !inGitHub() {
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
		return strings.ReplaceAll(text, "##[", `#\u0023[`)
	case "junit":
		return strings.ReplaceAll(text, "##[", "#&#35;[")
	}
	text = strings.ReplaceAll(text, "##[", `#\#[`)
	var b strings.Builder
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, " \t\r\v\f\u00a0"); strings.HasPrefix(rest, "::") {
			line = line[:len(line)-len(rest)] + `\` + rest
		}
		b.WriteString(line)
	}
	return b.String()
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
