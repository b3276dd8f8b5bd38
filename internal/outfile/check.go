package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// stdout is the name of standard output.
const stdout = "-"

// ErrInput is the error of an output that is an input.
var ErrInput = errors.New("this file is an input")

// Overwrites returns an error if one of the named files in dir is an input. It asks for
// the inputs only if a file is there.
func Overwrites(dir string, names []string, inputs func() []string) error {
	var there []os.FileInfo
	var paths []string
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			there, paths = append(there, info), append(paths, path)
		}
	}
	if len(there) == 0 {
		return nil
	}
	for _, input := range inputs() {
		in, err := os.Stat(input)
		if err != nil {
			continue
		}
		for i, out := range there {
			if os.SameFile(in, out) {
				return fmt.Errorf("%s: %w; name another directory with --output", paths[i], ErrInput)
			}
		}
	}
	return nil
}

// CheckFile returns an error if the output cannot be written or is an input. It is called
// before the inputs are read.
func CheckFile(path string, inputs []string) error {
	if path == stdout {
		return nil
	}
	if path == "" {
		return errors.New("--output is \"\", want a file")
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	out, err := os.Stat(path)
	if err != nil {
		return nil // it is to be made
	}
	if out.IsDir() {
		return fmt.Errorf("%s: this is a directory, not a file", path)
	}
	for _, input := range inputs {
		if in, err := os.Stat(input); err == nil && out.Mode().IsRegular() && os.SameFile(in, out) {
			return fmt.Errorf("%s: %w; name another output", path, ErrInput)
		}
	}
	return nil
}

// CheckDir returns an error if the report cannot be written to dir. It is called before
// the inputs are read, and creates nothing.
func CheckDir(dir string) error {
	if dir == "" || dir == stdout {
		return fmt.Errorf("--output is %q, want a directory", dir)
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: not a directory", dir)
	}
	return nil
}
