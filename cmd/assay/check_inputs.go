package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/gate"
	"assay/internal/ingest"
	"assay/summary"
)

// loadRuns reads what the arguments name, traces and summaries that assay wrote,
// as runs of the program. Where some cannot be read it returns the others with
// the errors, joined.
func loadRuns(e env, c *command, s *source, args []string) ([]gate.Run, error) {
	list, err := loadSummaries(e, c, s, args)
	return gate.Runs(list), err
}

// loadSummaries returns a summary of each input, in the order of the arguments:
// those of traces behind those that assay wrote.
func loadSummaries(e env, c *command, s *source, args []string) ([]*summary.Summary, error) {
	var list []*summary.Summary
	var traces []string
	var failed []error
	for _, arg := range args {
		saved, others, err := sortInputs(arg)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		traces = append(traces, others...)
		for _, path := range saved {
			sum, err := readSummary(path)
			if err != nil {
				failed = append(failed, err)
				continue
			}
			list = append(list, sum)
		}
	}
	if len(traces) > 0 {
		r, err := s.open(e, c, traces)
		if err != nil {
			return nil, err
		}
		sums := make([]*summary.Summary, len(r.paths))
		failed = append(failed, r.all(func(i int, in *ingest.Input) { sums[i] = r.measured(in) })...)
		list = append(list, slices.DeleteFunc(sums, func(s *summary.Summary) bool { return s == nil })...)
	}
	return list, errors.Join(failed...)
}

// sortInputs tells summaries that assay wrote from what is to be measured, by
// their content.
func sortInputs(arg string) (saved, others []string, err error) {
	if arg == ingest.Stdin {
		return nil, []string{arg}, nil
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		saved, err := savedIn(arg)
		if err != nil || saved != nil {
			return saved, nil, err
		}
		return nil, []string{arg}, nil
	}
	chosen := ingest.Paths([]string{arg})
	if len(chosen.Files) == 0 {
		return nil, []string{arg}, nil // reading it says what is wrong
	}
	for _, path := range chosen.Files {
		if isSummary(path) {
			saved = append(saved, path)
		} else {
			others = append(others, path)
		}
	}
	return saved, others, nil
}

// savedIn returns the summary that stands for a directory: the one accepted last
// or, where nothing was accepted, the only one there; nil if there is none.
func savedIn(dir string) ([]string, error) {
	accepted, err := lastAccepted(dir)
	if err != nil || accepted != "" {
		return []string{accepted}, err
	}
	files, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.json"))
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f string) bool { return !isSummary(f) })
	if len(files) > 1 {
		return nil, fmt.Errorf("%s: holds %d summaries, and none of them was accepted; name those that are meant, or make one the baseline with \"assay accept\"", dir, len(files))
	}
	return files, nil
}

// escapeGlob returns a pattern that matches the path itself.
func escapeGlob(path string) string {
	if filepath.Separator == '\\' {
		return path // Windows has no escapes in patterns
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

var summarySchema = regexp.MustCompile(`^\s*\{[^{}\[\]]{0,400}"schema"\s*:\s*"assay/summary/`)

// isSummary reports whether a file is JSON that "assay summary" wrote, of
// whatever version.
func isSummary(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false // to open a pipe would take what is in it
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 1024)
	n, _ := io.ReadFull(f, head)
	return summarySchema.Match(head[:n])
}

// maxSummary is how long a summary may be. Those of thousands of ranks are
// shorter.
const maxSummary = 512 << 20

func readSummary(path string) (*summary.Summary, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, pathOnly(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxSummary {
		return nil, fmt.Errorf("%s: is %d MiB long, over the limit of %d MiB for a summary; make summaries of fewer ranks", path, info.Size()>>20, maxSummary>>20)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSummary))
	if err != nil {
		return nil, pathOnly(err)
	}
	return summary.Read(bytes.NewReader(text), path)
}
