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
	"assay/nsys"
	"assay/rocm"
	"assay/summary"
	"assay/torchprof/et"
)

// A Choice is the result of expanding the paths that a user gives.
type Choice struct {
	Files  []string // to read, without duplicates: in the order of the paths; those of a directory or pattern sorted
	Others int      // files in directories that are not traces
	Links  int      // symbolic links in directories; not followed, because they may lead out of the directory
	// Special has the pipes, sockets and devices in directories and among the matches of
	// patterns. They are not opened, because that may block.
	Special []string

	Failed []error // one for each path, directory or pattern that could not be read or has no trace

	// Left has the files in directories that are not read, with the reason, sorted by path.
	Left []summary.LeftOutFile

	found       []string // regular files in a directory, not yet looked into
	saved       []string // summaries in a directory
	collectives []string // collectives of partials, which are read with their summaries
}

// Paths expands the paths that a user gives. A directory, or a link to one, expands to
// the traces under it, a pattern to its matches, and [Stdin] to itself. Hidden files and
// directories are skipped unless the user names them.
func Paths(args []string) Choice {
	var c Choice
	for _, arg := range args {
		c.name(arg)
	}
	c.Files, c.Special = withoutRelated(dedupe(c.Files)), dedupe(c.Special)
	c.withoutTables()
	c.checkCollectives()
	slices.SortFunc(c.Left, func(a, b summary.LeftOutFile) int { return ComparePaths(a.Path, b.Path) })
	c.Left = slices.Compact(c.Left) // a directory that was named twice
	return c
}

// withoutTables drops tables of unknown names that are in the directory of an export, with which they belong.
func (c *Choice) withoutTables() {
	exports := make(map[string]bool)
	for _, path := range c.Files {
		exports[path] = true
	}
	read := func(path string) bool { return filepath.Ext(path) == ".parquet" && exports[filepath.Dir(path)] }
	c.Files = slices.DeleteFunc(c.Files, read)
	c.Left = slices.DeleteFunc(c.Left, func(f summary.LeftOutFile) bool {
		if f.Why != summary.LeftUnknown || !read(f.Path) {
			return false
		}
		c.Others--
		return true
	})
}

// Disregard forgets files that were left out, as if they were not there: those that the caller has
// written itself.
func (c *Choice) Disregard(paths []string) {
	own := map[string]bool{}
	for _, path := range paths {
		if abs, err := filepath.Abs(path); err == nil {
			own[abs] = true
		}
	}
	c.Left = slices.DeleteFunc(c.Left, func(f summary.LeftOutFile) bool {
		abs, err := filepath.Abs(f.Path)
		if err != nil || !own[abs] || f.Why != summary.LeftUnknown && f.Why != summary.LeftSaved {
			return false
		}
		c.Others--
		return true
	})
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
		// A pattern only if no such file exists, because names of files may have brackets.
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
				c.Failed = append(c.Failed,
					fmt.Errorf("%s: only pipes, sockets or devices match this pattern; name one to read it", arg))
			}
			return
		}
	}
	c.add(arg)
}

// hiddenFrom reports whether a pattern does not apply to one of its matches because an
// element of the path is hidden and the pattern does not name it with a dot. Shells have
// the same rule.
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
	case info.Mode().IsRegular() && strings.HasSuffix(path, CollectivesSuffix) && kindOf(path) == collectivesFile:
		c.collectives = append(c.collectives, clean(path)) // a pattern of a shell matches it too
	default:
		if path = clean(path); nsys.ParquetTable(path) {
			path = filepath.Dir(path)
		}
		c.Files = append(c.Files, path)
	}
}

// CollectivesSuffix is the end of the name of a file of collectives. The rest of its path is the path of
// the partial's summary, without extension.
const CollectivesSuffix = ".collectives"

// checkCollectives adds an error for each file of collectives that was named without its
// summary.
func (c *Choice) checkCollectives() {
	for _, path := range c.collectives {
		stem := strings.TrimSuffix(path, CollectivesSuffix)
		if !slices.ContainsFunc(c.Files, func(f string) bool { return strings.HasPrefix(f, stem+".json") }) {
			c.Failed = append(c.Failed,
				fmt.Errorf("%s: these are the collectives of a partial; name the summary, %s.json.gz, which refers to them",
					path, filepath.Base(stem)))
		}
	}
}

// clean returns filepath.Clean of a path, unless that may name another file: Clean removes
// "dir/.." even if dir is a link, and turns "./-" into standard input.
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

// walk adds the traces under dir. If there are none, it adds the summaries that assay has
// written. Summaries next to traces are skipped, because they mostly are of the same runs.
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
	in.leaveExported()
	if len(in.Files) == 0 {
		in.Files = in.saved // the traces are not in this directory
	} else {
		in.Others += len(in.saved)
		for _, path := range in.saved {
			in.leave(path, summary.LeftSaved)
		}
	}
	if len(in.Files) == 0 && len(in.Failed) == 0 {
		err := fmt.Errorf("%s: no trace, table or profile among the files of this directory (%d); want traces such as *.pt.trace.json.gz, exports such as *.sqlite, or what the README lists under \"What it reads\"",
			dir, in.Others)
		if in.Links > 0 {
			err = fmt.Errorf("%w; links in it (%d) are not followed: name them", err, in.Links)
		}
		c.Special = append(c.Special, in.Special...)
		c.Failed = append(c.Failed, err)
		return
	}
	slices.SortFunc(in.Files, ComparePaths)
	in.Files = slices.Compact(in.Files) // directories have several tables
	c.Files = append(c.Files, in.Files...)
	c.Others += in.Others
	c.Links += in.Links
	c.Left = append(c.Left, in.Left...)
	c.Special = append(c.Special, in.Special...)
	c.Failed = append(c.Failed, in.Failed...)
}

// visit is called for each file and directory under a directory. If one cannot be read, it
// adds an error and the walk continues, so that the other traces are read.
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
		if nsys.ParquetTable(path) {
			c.Files = append(c.Files, filepath.Dir(path))
			break
		}
		if hasNoSize(d) && !namedLikeTrace(path) {
			c.Others++ // empty, or generated on reading like /proc/kmsg, which may block
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

// leave records a file that is not read.
func (c *Choice) leave(path, why string) {
	c.Left = append(c.Left, summary.LeftOutFile{Path: path, Why: why})
}

// sort divides the files that were found by kind. Each must be opened and often decompressed
// for that, so several are classified in parallel.
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
	timed := slices.Contains(kinds, candidate)
	for i, path := range c.found {
		switch kinds[i] {
		case untimed:
			if timed {
				c.leave(path, summary.LeftUntimed)
				continue
			}
			c.Files = append(c.Files, path)
		case candidate:
			c.Files = append(c.Files, path)
		case savedSummary:
			c.saved = append(c.saved, path)
		case collectivesFile, related:
		default:
			c.Others++
			c.leave(path, summary.LeftUnknown)
		}
	}
	c.found = nil
}

// hasNoSize reports whether the directory states a size of 0 bytes for a file.
func hasNoSize(d fs.DirEntry) bool {
	info, err := d.Info()
	return err == nil && info.Size() == 0
}

// A kind classifies a file in a directory.
type kind uint8

const (
	other           kind = iota
	candidate            // to be read
	savedSummary         // read only if there are no candidates
	collectivesFile      // read with its summary
	related              // read with another file of its capture
	untimed              // read if there are no candidates; what it has of their operators, they take
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
	if isAscendPiece(path) {
		return related
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
		return collectivesFile
	}
	format := f.format(head)
	if format == nil {
		return read(named && !isOtherJSON(head) && !et.Sniff(head) && !isPythonObject(head))
	}
	if format.listed == nil || format.listed(path, head) {
		return candidate
	}
	if format.name == et.Format {
		return untimed
	}
	if format.name == rocm.FormatCSV || format.name == "nsys-csv" || !isBestForm(path, head) {
		return related
	}
	return read(format.name == textFormat &&
		(forms.HasRecords(f.sample(textSample)) || namedLikeLog(path) && forms.FindRecords(f, logSample)))
}

// logSample is the number of bytes that are searched for a record in a file that is named like
// a log. It covers what a server prints while it starts.
const logSample = 16 << 20

// namedLikeLog reports whether the name of a file is typical of logs.
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

// namedLikeTrace reports whether the name of a file is typical of traces.
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

// digits returns the number of digits at the beginning of a text.
func digits(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// pathByte returns the rank of a byte in the order of paths: a separator comes first, so that
// the files of a directory come before those of directories whose names are longer.
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
