// Package settings reads the files that users write: rules, phases, forms of lines, peaks,
// limits and gates. Its errors have no secret of the file. The readers walk the tree of a
// file themselves, so that every message starts with the line at fault: "7: want one value,
// got null". The name of the file, and what the values mean, is theirs.
package settings

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"assay/internal/diag"
)

// Read reads a settings file. Its size limit protects against a trace given by
// mistake, and against devices without an end.
func Read(path string) ([]byte, error) {
	const limit = MaxBytes
	f, err := os.Open(path)
	if err != nil {
		return nil, diag.PathOnly(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, diag.PathOnly(err)
	case len(text) > limit:
		return nil, fmt.Errorf("%s: the file has more than %d KiB, the limit for settings; give a YAML file, see \"assay help rules\", \"phases\", \"series\", \"devices\", \"thresholds\" or \"gates\"", path, limit>>10)
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")), bytes.IndexByte(text, 0) >= 0:
		return nil, fmt.Errorf("%s: the file is not UTF-8 text (it looks like UTF-16); save it as UTF-8", path)
	}
	return text, nil
}

// Load reads and parses a file of settings. Its errors do not have the secrets of the file.
func Load[T any](path string, parse func(text []byte, name string) (T, error)) (v T, err error) {
	text, err := Read(path)
	if err != nil {
		return v, err
	}
	v, err = parse(text, path)
	return v, WithoutValues(text, err)
}
