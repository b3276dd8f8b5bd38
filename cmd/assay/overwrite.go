package main

import (
	"fmt"

	"assay/ingest"
	"assay/internal/diag"
	"assay/internal/outfile"
)

// keepInputs returns an error if dir cannot be written to. It prints an error and returns [errUsage]
// if a file that the command writes to dir is one of its inputs, even under another name. what names
// the output in the message. It is called before the inputs are read, so that a mistake does not
// cost the time of an analysis.
func keepInputs(e env, c *command, what, dir string, names, inputs []string) error {
	if err := outfile.CheckDir(dir); err != nil {
		return fmt.Errorf("cannot write the %s: %w", what, diag.PathOnly(err))
	}
	if err := outfile.Overwrites(dir, names, func() []string { return inputFiles(inputs) }); err != nil {
		return inputKept(e, c, what, err)
	}
	return nil
}

// inputKept prints why nothing is written and returns [errUsage].
func inputKept(e env, c *command, what string, err error) error {
	e.say("assay %s: cannot write the %s: %s", c.name, what, err)
	return errUsage
}

// inputFiles returns the files that the arguments expand to: the latest entry of a directory of
// baselines, the captures in another directory, the matches of a pattern. Empty names are left out.
func inputFiles(args []string) (files []string) {
	for _, arg := range args {
		if arg == "" || arg == ingest.Stdin {
			continue
		}
		if accepted, _, err := acceptedIn(arg); err == nil && accepted != "" {
			files = append(files, accepted)
		}
		files = append(files, ingest.Paths([]string{arg}).Files...)
	}
	return files
}
