package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"assay/internal/test/rankgen"
)

// ranksCommand writes the traces of a run of several ranks.
func ranksCommand(flags *flag.FlagSet) func() error {
	var names []string
	for _, s := range rankgen.Scenarios() {
		names = append(names, s.Name)
	}
	name := flags.String("scenario", "", "one of "+strings.Join(names, ", "))
	ranks := flags.Int("ranks", 0, "instead of a scenario, data-parallel training with this number of ranks")
	steps := flags.Int("steps", 4, "steps of -ranks")
	out := flags.String("o", "", "`DIR` to write to")
	return func() error {
		if *out == "" || (*name == "") == (*ranks < 1) {
			return fmt.Errorf("want -o DIR, and -scenario NAME or -ranks N")
		}
		if *ranks > 0 {
			j := rankgen.Training(*ranks, *steps)
			return writeRanks(*out, j, j.Places())
		}
		for _, s := range rankgen.Scenarios() {
			if s.Name == *name {
				j, given := s.Job()
				return writeRanks(*out, j, given)
			}
		}
		return fmt.Errorf("no scenario %q; there are %s", *name, strings.Join(names, ", "))
	}
}

func writeRanks(dir string, j *rankgen.Job, given []int) error {
	for _, p := range given { // one at a time: there may be many
		for _, f := range j.Files([]int{p}) {
			name := filepath.Join(dir, f.Name)
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				return err
			}
			if err := os.WriteFile(name, f.JSON, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}
