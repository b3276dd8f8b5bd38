// Genranks writes the traces of a run of several ranks, to look at them and to measure.
//
//	go run ./internal/test/rankgen/genranks -scenario slow_gpu -o out
//	go run ./internal/test/rankgen/genranks -ranks 1000 -o out
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"assay/internal/test/rankgen"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "genranks:", err)
		os.Exit(1)
	}
}

func run() error {
	var names []string
	for _, s := range rankgen.Scenarios() {
		names = append(names, s.Name)
	}
	name := flag.String("scenario", "", "one of "+strings.Join(names, ", "))
	ranks := flag.Int("ranks", 0, "instead of a scenario, data-parallel training with this number of ranks")
	steps := flag.Int("steps", 4, "steps of -ranks")
	out := flag.String("o", "", "directory to write to")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 || (*name == "") == (*ranks < 1) {
		return fmt.Errorf("want -o DIR, and -scenario NAME or -ranks N")
	}
	if *ranks > 0 {
		j := rankgen.Training(*ranks, *steps)
		return write(*out, j, j.Places())
	}
	for _, s := range rankgen.Scenarios() {
		if s.Name == *name {
			j, given := s.Job()
			return write(*out, j, given)
		}
	}
	return fmt.Errorf("no scenario %q; there are %s", *name, strings.Join(names, ", "))
}

func write(dir string, j *rankgen.Job, given []int) error {
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
