package ingest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"assay/nsys"
	"assay/nsys/stats"
	"assay/trace"
)

func isStats(_ string, head []byte) bool { return stats.Sniff(head) }

// isNamedStats reports whether a file in a directory is named like what nsys
// stats writes: much of what has such a header is of other programs.
func isNamedStats(path string, _ []byte) bool {
	name := strings.ToLower(filepath.Base(path))
	return strings.Contains(name, "_sum.") || strings.Contains(name, "nsys") || strings.Contains(name, "_trace.csv")
}

func loadStats(f *File, _ trace.Select, in *Input) (err error) {
	in.Tables, err = stats.Read(f, f.Path, stats.Limits{})
	if in.Tables != nil {
		return nil // what broke it off is among its issues
	}
	return err
}

func isSQLite(_ string, head []byte) bool { return nsys.SniffSQLite(head) }

// isNamedExport reports whether a database in a directory is named like an
// export: others may be anything.
func isNamedExport(path string, _ []byte) bool {
	return strings.EqualFold(filepath.Ext(path), ".sqlite")
}

// loadSQLite reads a database in its place. One that is packed or comes through
// a pipe is unpacked to a temporary file first, for it is read back and forth.
func loadSQLite(f *File, sel trace.Select, in *Input) (err error) {
	path := f.Path
	hashed := make(chan error, 1)
	if f.whole && f.Compression == "none" {
		if info, err := os.Stat(path); err == nil && f.max > 0 && info.Size() > f.max {
			return fmt.Errorf("%s: %w", f.Path, trace.InputLimit(f.max))
		}
		go func() { // for the hash, beside the reading
			_, err := io.Copy(io.Discard, f.content)
			hashed <- err
		}()
	} else {
		if path, err = f.spill(); err != nil {
			return err
		}
		defer os.Remove(path)
		hashed <- nil
	}
	in.Trace, err = nsys.ReadSQLite(path, f.Path, sel)
	if failed := <-hashed; err == nil && failed != nil {
		return pathError(failed)
	}
	return err
}

// spill writes the content to a temporary file and returns its name.
func (f *File) spill() (name string, err error) {
	temp, err := os.CreateTemp("", "assay-*.sqlite")
	if err != nil {
		return "", fmt.Errorf("%s: cannot be unpacked: %w", f.Path, err)
	}
	_, err = io.Copy(temp, f)
	if closing := temp.Close(); err == nil {
		err = closing
	}
	if err != nil {
		os.Remove(temp.Name())
		return "", fmt.Errorf("%s: cannot be unpacked to %s: %w", f.Path, filepath.Dir(temp.Name()), reason(err))
	}
	return temp.Name(), nil
}
