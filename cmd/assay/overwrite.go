package main

import (
	"assay/ingest"
	"assay/internal/outfile"
)

// keepInputs prints an error and returns [errUsage] if a file that the command writes to
// dir is one of its inputs, also under another name. what is what cannot be written. It
// is called before the inputs are read.
func keepInputs(e env, c *command, what, dir string, names, inputs []string) error {
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

// inputFiles returns the files that the arguments stand for: the latest entry of a
// directory of baselines, the captures of another directory, what a pattern matches. The
// empty name is left out.
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
