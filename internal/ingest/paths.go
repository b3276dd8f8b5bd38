package ingest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/trace"
)

// Paths expands what a user names into the files to read, in a stable order: a
// directory stands for the traces under it, a pattern for what it matches,
// [Stdin] for itself. ignored counts the files in directories that are no
// traces.
func Paths(args []string) (files []string, ignored int, err error) {
	for _, arg := range args {
		if arg == Stdin {
			files = append(files, arg)
			continue
		}
		found, skipped, err := expand(arg)
		if err != nil {
			return nil, 0, err
		}
		files = append(files, found...)
		ignored += skipped
	}
	return dedupe(files), ignored, nil
}

func expand(arg string) (files []string, ignored int, err error) {
	info, err := os.Stat(arg)
	if err != nil {
		// Only what is not there can be a pattern: names with brackets exist.
		if matches, _ := filepath.Glob(arg); len(matches) > 0 {
			slices.Sort(matches)
			return matches, 0, nil
		}
		return nil, 0, pathError(err)
	}
	if !info.IsDir() {
		return []string{arg}, 0, nil
	}
	err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != arg && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.Type().IsRegular(): // links would lead out of the directory
			return nil
		case isCandidate(path):
			files = append(files, path)
		default:
			ignored++
		}
		return nil
	})
	if err != nil {
		return nil, 0, pathError(err)
	}
	if len(files) == 0 {
		return nil, ignored, fmt.Errorf("%s: no trace among the files of this directory (%d); want Chrome traces such as *.pt.trace.json.gz", arg, ignored)
	}
	return files, ignored, nil
}

// isCandidate reports whether a file of a directory is to be read. A file that
// is named like a trace and cannot be read, or is none, must not vanish: reading
// it will say why. JSON that is clearly something else may.
func isCandidate(path string) bool {
	named := namedLikeTrace(path)
	f, err := Open(path, nil)
	if err != nil {
		return named
	}
	defer f.Close()
	head, err := f.Peek()
	switch {
	case err != nil:
		return named
	case !trace.Sniff(head):
		return named && !isOtherJSON(head)
	}
	text := string(head)
	if strings.Contains(text, `"traceEvents"`) || strings.Contains(text, `"ph"`) {
		return true
	}
	// Long metadata may hide the events.
	return len(head) == sniffLen && strings.Contains(strings.ToLower(filepath.Base(path)), "trace") && !isExecutionTrace(head)
}

// namedLikeTrace reports whether a file's name is one that profilers give to
// traces.
func namedLikeTrace(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	for _, packing := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packing)
	}
	return strings.HasSuffix(name, ".json")
}

// isOtherJSON reports whether head starts like JSON that is neither an object
// nor an array of objects, such as a list of numbers.
func isOtherJSON(head []byte) bool {
	head = bytes.TrimSpace(head)
	return len(head) > 0 && head[0] == '['
}

func dedupe(files []string) []string {
	seen := make(map[string]bool)
	return slices.DeleteFunc(files, func(f string) bool {
		again := seen[f]
		seen[f] = true
		return again
	})
}
