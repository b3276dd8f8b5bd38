package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	info, err := os.Stat(arg)
	isDir := err == nil && info.IsDir()
	if isDir {
		accepted, err := lastAccepted(arg)
		if err != nil || accepted != "" {
			return []string{accepted}, nil, err
		}
	}
	if isDir {
		saved = summariesIn(arg)
	}
	for _, path := range ingest.Paths([]string{arg}).Files {
		switch wrote(path) {
		case "summary":
			if !isDir { // those of a directory are found already
				saved = append(saved, path)
			}
		case "":
			others = append(others, path)
		}
	}
	switch {
	case len(saved) == 0:
		return nil, []string{arg}, nil // reading it says what is wrong, or left out
	case isDir && len(others) > 0:
		return nil, nil, fmt.Errorf("%s: holds %s and %s; name those that are meant",
			arg, plural(len(saved), "summary", "summaries"), plural(len(others), "other input", "other inputs"))
	case isDir:
		return saved, nil, notMany(arg, saved)
	}
	return saved, others, nil
}

// summariesIn returns the summaries under a directory, sorted. Like traces they
// are not looked for behind links and in what is hidden.
func summariesIn(dir string) (found []string) {
	root := dir + string(filepath.Separator) // a link to a directory is one
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // looking for traces says it
		case path != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && filepath.Ext(path) == ".json" && wrote(path) == "summary":
			found = append(found, filepath.Clean(path))
		}
		return nil
	})
	return found
}

// notMany refuses several summaries in one directory. Which of them is the
// baseline is not for assay to guess.
func notMany(arg string, saved []string) error {
	count := make(map[string]int)
	for _, path := range saved {
		dir := filepath.Dir(path)
		if count[dir]++; count[dir] > 1 {
			return fmt.Errorf("%s: holds several summaries, and none of them was accepted; name those that are meant, or make one the baseline with \"assay accept\"", dir)
		}
	}
	return nil
}

var ourSchema = regexp.MustCompile(`^\s*\{[^{}\[\]]{0,400}"schema"\s*:\s*"assay/([a-z]+)/`)

// wrote returns which command of assay wrote a file of JSON, in whatever
// version: "summary" or "check", or "" if none did.
func wrote(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "" // to open a pipe would take what is in it
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 1024)
	n, _ := io.ReadFull(f, head)
	if m := ourSchema.FindSubmatch(head[:n]); m != nil {
		return string(m[1])
	}
	return ""
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
