package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"assay/analyze/ranks/collective"
	"assay/logs/forms"
	"assay/summary"
)

// A Choice is what the names that a user gives come to.
type Choice struct {
	Files  []string // to read, each once: in the order of the names, those of a directory or pattern sorted
	Others int      // files in directories that are not traces
	Links  int      // symbolic links in directories; they may lead out of them and are not followed
	// Special has the pipes, sockets and devices in directories and among the matches of
	// patterns. They are not opened, because that may block.
	Special []string

	Failed []error // one for each name, directory or pattern that could not be looked into or has no trace

	// Left has the files of directories that are not read, by path, with the reason.
	Left []summary.LeftOutFile

	found  []string // regular files in a directory, not yet looked into
	saved  []string // summaries in a directory
	beside []string // collectives of partials, which are read with their summaries
}

// Paths expands what a user names: a directory, or a link to one, stands for
// the traces under it, a pattern for what it matches, [Stdin] for itself.
// Hidden files and directories must be named to be read.
func Paths(args []string) Choice {
	var c Choice
	for _, arg := range args {
		c.name(arg)
	}
	c.Files, c.Special = dedupe(c.Files), dedupe(c.Special)
	c.checkBeside()
	slices.SortFunc(c.Left, func(a, b summary.LeftOutFile) int { return ComparePaths(a.Path, b.Path) })
	c.Left = slices.Compact(c.Left) // a directory that was named twice
	return c
}

// name adds the files that one argument names.
func (c *Choice) name(arg string) {
	if arg == Stdin {
		c.Files = append(c.Files, arg)
		return
	}
	if arg == "" {
		c.Failed = append(c.Failed, errors.New("the name of an input is empty"))
		return
	}
	if _, err := os.Stat(arg); err != nil {
		// Only a name that does not exist can be a pattern, because names may have brackets.
		matches, _ := filepath.Glob(arg)
		matches = slices.DeleteFunc(matches, func(m string) bool { return hiddenFrom(arg, m) })
		if len(matches) > 0 {
			slices.SortFunc(matches, ComparePaths)
			for _, m := range matches {
				if info, err := os.Stat(m); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
					c.Special = append(c.Special, m)
					continue
				}
				c.add(m)
			}
			if len(c.Special) >= len(matches) && len(c.Files) == 0 && len(c.Failed) == 0 {
				c.Failed = append(c.Failed, fmt.Errorf("%s: only pipes, sockets or devices match this pattern; name one to read it", arg))
			}
			return
		}
	}
	c.add(arg)
}

// hiddenFrom reports whether a pattern's match has a hidden name where the
// pattern does not ask for one, as shells have it.
func hiddenFrom(pattern, match string) bool {
	want := strings.Split(filepath.ToSlash(filepath.Clean(pattern)), "/")
	for i, name := range strings.Split(filepath.ToSlash(filepath.Clean(match)), "/") {
		if isHidden(name) && i < len(want) && !isHidden(want[i]) {
			return true
		}
	}
	return false
}

func isHidden(name string) bool {
	return strings.HasPrefix(name, ".") && name != "." && name != ".."
}

// add adds a file, or the traces under a directory.
func (c *Choice) add(path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		c.Failed = append(c.Failed, pathError(err))
	case info.IsDir():
		c.walk(clean(path))
	case info.Mode().IsRegular() && strings.HasSuffix(path, Beside) && kindOf(path) == besideSummary:
		c.beside = append(c.beside, clean(path)) // a pattern of a shell matches it too
	default:
		c.Files = append(c.Files, clean(path))
	}
}

// Beside is how the name of a file of collectives ends. The file has the directory and the
// name of the summary of a partial.
const Beside = ".collectives"

// checkBeside adds an error for each file of collectives that was named without its
// summary.
func (c *Choice) checkBeside() {
	for _, path := range c.beside {
		stem := strings.TrimSuffix(path, Beside)
		if !slices.ContainsFunc(c.Files, func(f string) bool { return strings.HasPrefix(f, stem+".json") }) {
			c.Failed = append(c.Failed, fmt.Errorf("%s: these are the collectives of a partial; name the summary, %s.json.gz, which refers to them", path, filepath.Base(stem)))
		}
	}
}

// clean shortens a path to its usual spelling, unless that would make it
// another: Clean takes dir/.. away without a look at whether dir is a link, and
// ./- for standard input.
func clean(path string) string {
	short := filepath.Clean(path)
	if short == Stdin {
		return path
	}
	if strings.Contains(path, "..") {
		a, err1 := os.Stat(path)
		b, err2 := os.Stat(short)
		if err1 != nil || err2 != nil || !os.SameFile(a, b) {
			return path
		}
	}
	return short
}

// walk adds the traces under dir, or, where there is none, the summaries that
// assay has written: those beside traces are mostly of the same runs.
func (c *Choice) walk(dir string) {
	root, err := filepath.EvalSymlinks(dir) // WalkDir does not enter a link
	if err != nil {
		c.Failed = append(c.Failed, pathError(err))
		return
	}
	var in Choice
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		return in.visit(filepath.Join(dir, strings.TrimPrefix(path, root)), path == root, d, err)
	})
	in.sort()
	if len(in.Files) == 0 {
		in.Files = in.saved // the traces are elsewhere
	} else {
		in.Others += len(in.saved)
		for _, path := range in.saved {
			in.leave(path, summary.LeftSaved)
		}
	}
	if len(in.Files) == 0 && len(in.Failed) == 0 {
		err := fmt.Errorf("%s: no trace, table or profile among the files of this directory (%d); want traces such as *.pt.trace.json.gz, exports such as *.sqlite, or what the README lists under \"What it reads\"", dir, in.Others)
		if in.Links > 0 {
			err = fmt.Errorf("%w; links in it (%d) are not followed: name them", err, in.Links)
		}
		c.Special = append(c.Special, in.Special...)
		c.Failed = append(c.Failed, err)
		return
	}
	slices.SortFunc(in.Files, ComparePaths)
	c.Files = append(c.Files, in.Files...)
	c.Others += in.Others
	c.Links += in.Links
	c.Left = append(c.Left, in.Left...)
	c.Special = append(c.Special, in.Special...)
	c.Failed = append(c.Failed, in.Failed...)
}

// visit is called for what is found under a directory. What cannot be looked
// into is noted, and the walk goes on: it must not cost the other traces.
func (c *Choice) visit(path string, root bool, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		c.Failed = append(c.Failed, fmt.Errorf("%s: %w", path, reason(err)))
	case root:
	case isHidden(d.Name()):
		if d.IsDir() {
			return fs.SkipDir
		}
	case d.IsDir():
	case d.Type()&fs.ModeSymlink != 0:
		c.Links++
		c.leave(path, summary.LeftLink)
	case d.Type().IsRegular(): // opening a pipe would wait for its writer
		if hasNoSize(d) && !namedLikeTrace(path) {
			c.Others++ // empty, or made by the system when it is read, as /proc/kmsg, which may wait
			c.leave(path, summary.LeftEmpty)
			break
		}
		c.found = append(c.found, path)
	default:
		c.Special = append(c.Special, path)
		c.leave(path, summary.LeftSpecial)
	}
	return nil
}

// leave notes a file that is not read.
func (c *Choice) leave(path, why string) {
	c.Left = append(c.Left, summary.LeftOutFile{Path: path, Why: why})
}

// sort divides the files that were found by their kinds. Each must be opened and often
// decompressed for that, so several are looked at at a time.
func (c *Choice) sort() {
	kinds := make([]kind, len(c.found))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(c.found)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(kinds)); i = next.Add(1) - 1 {
				kinds[i] = kindOf(c.found[i])
			}
		})
	}
	wg.Wait()
	for i, path := range c.found {
		switch kinds[i] {
		case candidate:
			c.Files = append(c.Files, path)
		case savedSummary:
			c.saved = append(c.saved, path)
		case besideSummary:
		default:
			c.Others++
			c.leave(path, summary.LeftUnknown)
		}
	}
	c.found = nil
}

// hasNoSize reports whether a file has 0 bytes, as far as its directory says.
func hasNoSize(d fs.DirEntry) bool {
	info, err := d.Info()
	return err == nil && info.Size() == 0
}

// A kind is what a file of a directory is.
type kind uint8

const (
	other         kind = iota
	candidate          // to be read
	savedSummary       // to be read where there are no candidates
	besideSummary      // read with its summary
)

// kindOf returns the kind of a file of a directory. A file that is named like a trace
// is listed even if it is unreadable or not a trace, so that reading it returns the
// reason. JSON that is clearly something else is not listed.
func kindOf(path string) kind {
	read := func(it bool) kind {
		if it {
			return candidate
		}
		return other
	}
	named := namedLikeTrace(path)
	f, err := openListed(path)
	if err != nil {
		return read(named)
	}
	defer f.Close()
	head, err := f.Peek()
	if err != nil {
		return read(named)
	}
	if isSaved(path, head) {
		return savedSummary
	}
	if collective.IsFile(head) {
		return besideSummary
	}
	format := f.format(head)
	if format == nil {
		return read(named && !isOtherJSON(head) && !isExecutionTrace(head) && !isPythonObject(head))
	}
	if format.listed == nil || format.listed(path, head) {
		return candidate
	}
	return read(format.name == textFormat && (forms.HasRecords(f.sample(textSample)) || namedLikeLog(path) && forms.FindRecords(f, logSample)))
}

// logSample is how much of a file that is named like a log is searched for a record: what a
// server prints while it starts.
const logSample = 16 << 20

// namedLikeLog reports whether a file's name is one that logs have.
func namedLikeLog(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	for _, packing := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packing)
	}
	switch filepath.Ext(name) {
	case ".log", ".out", ".err", ".txt":
		return true
	}
	return strings.Contains(name, ".log.") // rotated: server.log.1
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

// ComparePaths orders paths as text, but numbers in them by their value: rank10 comes
// after rank9.
func ComparePaths(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m == 0 || n == 0 {
			if x[0] != y[0] {
				return cmp.Or(pathByte(x[0])-pathByte(y[0]), cmp.Compare(a, b))
			}
			x, y = x[1:], y[1:]
			continue
		}
		p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
		if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
			return c
		}
		x, y = x[m:], y[n:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// digits returns how many digits a text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// pathByte orders the files of a directory before those of directories with longer names.
func pathByte(c byte) int {
	if c == '/' || c == filepath.Separator {
		return 0
	}
	return int(c) + 1
}

func dedupe(files []string) []string {
	seen := make(map[string]bool)
	return slices.DeleteFunc(files, func(f string) bool {
		again := seen[f]
		seen[f] = true
		return again
	})
}
