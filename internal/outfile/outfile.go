// Package outfile writes files that appear complete or not at all, and finds out before the
// work whether they can be written. It keeps a list of what must not outlive the process:
// temporary files and directories, and child processes. A signal to end removes all of it
// before the process ends, and so does [Exit].
package outfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// A File is a file to write.
type File struct {
	Path   string
	Encode func(io.Writer) error
}

// A Writer writes files that appear only when they are complete. Until its Stop is
// called, the end of the process, by a signal or for want of memory, removes the
// unfinished files.
type Writer struct {
	temp   Registry
	staged []stagedFile
}

// A stagedFile is complete under its temporary name.
type stagedFile struct{ temp, path string }

// Stop removes what was not committed and ends the watch for signals. One that
// has come still ends the process.
func (w *Writer) Stop() { w.temp.Close() }

// Dir creates the directory and its parents if they are missing. It is removed if no
// File is written to it.
func (w *Writer) Dir(path string) error { return w.temp.MkdirAll(path) }

// sideBySide is how many files are made at a time at most: each is open, and a picture takes
// about 4 MB.
const sideBySide = 8

// StageAll stages files side by side. The first and then the last are begun first: the
// JSON and the page of a report take longest, and one of them would end alone.
func (w *Writer) StageAll(files []File) error {
	made, failed := make([]stagedFile, len(files)), make([]error, len(files))
	var group errgroup.Group
	group.SetLimit(min(sideBySide, runtime.GOMAXPROCS(0)))
	for i := range files {
		i = (len(files) - i) % len(files)
		group.Go(func() error {
			made[i], failed[i] = w.create(files[i].Path, files[i].Encode)
			return nil
		})
	}
	_ = group.Wait() // each has its error in failed
	if i := slices.IndexFunc(failed, func(err error) bool { return err != nil }); i >= 0 {
		return failed[i]
	}
	w.staged = append(w.staged, made...)
	return nil
}

// Stage writes the file for path under a temporary name in the same directory. Its mode
// is rw-rw-rw- less the umask.
func (w *Writer) Stage(path string, encode func(io.Writer) error) error {
	f, err := w.create(path, encode)
	if err == nil {
		w.staged = append(w.staged, f)
	}
	return err
}

// create is Stage without a place in the order of the staged files.
func (w *Writer) create(path string, encode func(io.Writer) error) (stagedFile, error) {
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%016x", filepath.Base(path), rand.Uint64()))
	f, err := w.temp.Create(func() (*os.File, error) {
		return os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	})
	if err != nil {
		return stagedFile{}, err
	}
	err = Buffered(f, encode)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		w.temp.Remove(temp)
		return stagedFile{}, err
	}
	return stagedFile{temp, path}, nil
}

// Commit removes old files and gives the staged files their names, in the order in which they were
// staged. A signal ends the process before or after all of that. It also removes what killed
// processes left of the same files.
func (w *Writer) Commit(old ...string) error {
	if err := w.temp.swap(old, w.staged); err != nil {
		return err
	}
	paths := slices.Clone(old)
	for _, f := range w.staged {
		paths = append(paths, f.path)
	}
	removeAbandoned(paths, time.Now().Add(-abandonedAfter))
	w.staged = nil
	return nil
}

// abandonedAfter is the age at which an unfinished file is one of a process that was killed. No
// file takes so long to write.
const abandonedAfter = time.Hour

// removeAbandoned removes unfinished files for the paths that were last written before a time. A
// process that is killed cannot remove them.
func removeAbandoned(paths []string, before time.Time) {
	ours := map[string]bool{}
	dirs := map[string]bool{}
	for _, path := range paths {
		ours[filepath.Clean(path)] = true
		dirs[filepath.Dir(path)] = true
	}
	for dir := range dirs {
		found, _ := os.ReadDir(dir) // if it cannot be read, nothing is removed
		for _, f := range found {
			name, digits, ok := cutLast(f.Name(), ".")
			if !ok || !strings.HasPrefix(name, ".") || !ours[filepath.Join(dir, name[1:])] || !f.Type().IsRegular() ||
				len(digits) != 16 || strings.Trim(digits, "0123456789abcdef") != "" {
				continue
			}
			if info, err := f.Info(); err == nil && info.ModTime().Before(before) {
				os.Remove(filepath.Join(dir, f.Name())) // another process may have done it
			}
		}
	}
}

// cutLast is [strings.Cut] at the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}

// File writes the file at path.
func (w *Writer) File(path string, encode func(io.Writer) error) error {
	if err := w.Stage(path, encode); err != nil {
		return err
	}
	return w.Commit()
}

// Write writes the file at path. It writes directly to a path that is not a regular file, for example
// a pipe, because a rename would replace it.
func Write(path string, encode func(io.Writer) error) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return err
		}
		return errors.Join(Buffered(f, encode), f.Close())
	}
	var w Writer
	defer w.Stop()
	return w.File(path, encode)
}

// Append adds to a file that several programs write, such as those of a workflow. The size is that of
// the file so far.
func Append(path string, encode func(w io.Writer, size int64) error) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	size := int64(0)
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	return errors.Join(encode(f, size), f.Close())
}

// Buffered calls encode with a buffer before w.
func Buffered(w io.Writer, encode func(io.Writer) error) error {
	buf := bufio.NewWriter(w)
	if err := encode(buf); err != nil {
		return err
	}
	return buf.Flush()
}
