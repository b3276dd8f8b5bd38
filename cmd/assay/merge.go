package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/spf13/pflag"

	"assay/ingest"
	"assay/ingest/partial"
	"assay/internal/diag"
	"assay/internal/outfile"
)

func mergeCommand() *command {
	return &command{
		name: "merge", args: "INPUT... -o DIR",
		does: "merge what \"assay summary --save\" wrote on several machines into one directory",
		example: `  assay summary /local/traces --save out0/ > /dev/null     # on each node
  assay merge out*/ -o run/                                # anywhere
  assay report run/ -o report
`,
		run: runMerge,
	}
}

func runMerge(e env, c *command, args []string) error {
	var s source
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	dir := flags.StringP("output", "o", "", "`DIR` for the merged partial; created if missing")
	s.register(flags)
	args, err := parse(e, c, flags, args)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return usageError(e, c, "no input: name directories of \"assay summary --save\", or traces")
	case *dir == "":
		return usageError(e, c, "no --output: name the directory for the merged partial")
	}
	if err := outfile.CheckDir(*dir); err != nil {
		return fmt.Errorf("cannot write the partial: %w", diag.PathOnly(err))
	}
	s.outputs = []output{savedOutput}
	r, err := s.open(e, c, args)
	if err != nil {
		return err
	}
	if err := vacant(*dir, r.paths); err != nil {
		return inputKept(e, c, "partial", err)
	}
	r.save = true
	all, failed := r.parts()
	if len(failed) > 0 {
		return errors.Join(append(failed, errors.New("nothing is written, because inputs could not be read"))...)
	}
	records, err := s.records(all)
	if err != nil {
		return err
	}
	all, repeated, failed := partial.Arrange(all)
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	r.sayRepeated(repeated)
	if err := savePartial(*dir, records); err != nil {
		return fmt.Errorf("cannot write the partial: %w", diag.PathOnly(err))
	}
	e.say("merged %s into %s", plural(len(all), "input", "inputs"), *dir)
	return nil
}

// vacant returns an error if the directory contains any input: a later command that reads the
// directory would take it for a part of this result.
func vacant(dir string, inputs []string) error {
	there := ingest.Paths([]string{dir}).Files
	if len(there) == 0 {
		return nil
	}
	var names []string
	for _, path := range there {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	if err := outfile.Overwrites(dir, names, func() []string { return inputFiles(inputs) }); err != nil {
		return err
	}
	return fmt.Errorf("%s: the directory has inputs already, and a partial needs a directory of its own; name an empty directory with --output", there[0])
}

// saveParts writes the parts to the directory of --save.
func (m *measure) saveParts(e env, all []partial.Part) error {
	records, err := m.records(all)
	if err != nil {
		return err
	}
	if err := savePartial(m.save, records); err != nil {
		return fmt.Errorf("cannot write the partial: %w", diag.PathOnly(err))
	}
	if len(records) == 1 {
		e.say("saved %s", filepath.Join(m.save, records[0].JSONName()))
	} else {
		e.say("saved %d inputs in %s", len(records), m.save)
	}
	return nil
}

// records encodes partials as they are saved. With --redact the names of users are hidden in all
// partials in one call, so that a name has the same replacement in each.
func (s *source) records(all []partial.Part) ([]partial.Record, error) {
	var texts []any
	for i := range all {
		if err := all[i].Saved(); err != nil {
			return nil, err
		}
		if s.redact {
			all[i].Changes()
			texts = append(texts, all[i].Texts()...)
		}
	}
	s.hideUsers(&texts)
	records, errs := make([]partial.Record, len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(len(all), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				part := mask(&all[i]).value
				records[i], errs[i] = part.Encode(version())
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	wg.Wait()
	return records, errors.Join(errs...)
}

// savePartial writes records to a directory. All files are complete before the first is renamed to
// its final name, and each summary is renamed after its collectives. If a file cannot be renamed,
// the files that were renamed are removed again. A file that exists already is not a conflict,
// because its name is derived from its content.
func savePartial(dir string, records []partial.Record) (err error) {
	out := newWriter()
	defer out.stop()
	if err := out.dir(dir); err != nil {
		return err
	}
	staged, added := map[string]bool{}, []string{}
	stage := func(name string, text []byte) {
		path := filepath.Join(dir, name)
		if err != nil || text == nil || staged[path] {
			return
		}
		staged[path] = true
		have, missing := os.ReadFile(path)
		switch {
		case missing != nil:
			added = append(added, path)
		case bytes.Equal(have, text):
			return
		}
		err = out.stage(path, packed(text))
	}
	for _, r := range records {
		stage(r.CollectivesName(), r.Collectives)
		stage(r.JSONName(), r.JSON)
	}
	if err == nil {
		err = out.commit()
	}
	if err != nil {
		for _, path := range added {
			os.Remove(path)
		}
	}
	return err
}

// packed returns the result that writes an encoded record. The record was masked before it was
// encoded.
func packed(text []byte) result {
	return mask(text).as(func(text []byte, w io.Writer) error {
		_, err := bytes.NewReader(text).WriteTo(w)
		return err
	})
}
