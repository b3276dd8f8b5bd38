package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/lockedfile"

	"assay/internal/diag"

	"assay/internal/jsonscan"
	"assay/internal/outfile"
)

// A Decision is one line of the record in a directory of baselines.
type Decision struct {
	Time     string   `json:"time"` // UTC
	Accepted string   `json:"accepted"`
	Previous string   `json:"previous,omitempty"`
	Reason   string   `json:"reason"`
	Assay    string   `json:"assay"`  // version of assay
	Inputs   []string `json:"inputs"` // SHA-256 of the measured files

	Provenance *Provenance `json:"provenance,omitempty"` // absent in records of earlier versions
}

// FileName is the name of the record. Each line is a decision.
const FileName = "accepted.jsonl"

// maxRecord is the largest record in bytes: about 100,000 decisions.
const maxRecord = 64 << 20

// A Record is the file of decisions of one directory, locked for writing.
type Record struct {
	file *lockedfile.File
	path string
	State
	end int64 // offset of the end of the last complete line

	temp outfile.Registry // has the record while it is empty, so that it is removed unless a decision is added
}

// A State is what a record says about the baseline.
type State struct {
	Last Decision // the latest decision; its Accepted is "" if there is none
	Cut  string   // a message if the last line is cut, else ""
}

// Open opens the record of dir, and creates it if it is missing. It waits until no other process
// has the record open for writing.
func Open(dir string) (*Record, error) {
	path := filepath.Join(dir, FileName)
	f, err := lockRecord(path)
	if err != nil {
		return nil, err
	}
	text, err := readRecord(f, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r := &Record{file: f, path: path}
	if len(text) == 0 {
		r.temp.Add(path)
	}
	if r.State, r.end, err = parseRecord(path, text); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// checkRecordFile returns an error if the record is not a regular file: a symbolic link leads out
// of the directory, and a pipe has no end.
func checkRecordFile(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: the record is not a regular file; remove it, or name another directory", path)
	}
	return nil
}

// lockRecord opens and locks the record. If the process that had locked it removed it, because it
// could write no decision, the record is created again.
func lockRecord(path string) (*lockedfile.File, error) {
	for {
		if err := checkRecordFile(path); err != nil {
			return nil, err
		}
		f, err := lockedfile.Edit(path)
		if err != nil {
			return nil, err
		}
		locked, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if named, err := os.Stat(path); err == nil && os.SameFile(locked, named) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// Add appends a decision in one write, which replaces a cut line. If the write fails, the record is
// unchanged, or removed if it is new.
func (r *Record) Add(d Decision) error {
	line, err := jsonscan.Line(d)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if r.end > 0 {
		last := make([]byte, 1)
		if _, err := r.file.ReadAt(last, r.end-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if err := r.file.Truncate(r.end); err != nil {
		return err
	}
	if _, err := r.file.WriteAt(line, r.end); err != nil {
		return errors.Join(err, r.file.Truncate(r.end))
	}
	if err := r.file.Sync(); err != nil {
		return err
	}
	r.temp.Keep(r.path)
	return nil
}

// Close removes a record without a decision, and unlocks it.
func (r *Record) Close() error {
	r.temp.Close()
	return r.file.Close()
}

// Latest returns the latest file of the record in dir, or "" if there is no record, and a message
// if the last line is cut.
func Latest(dir string) (path, cut string, err error) {
	s, err := Read(dir)
	if err != nil || s.Last.Accepted == "" {
		return "", s.Cut, err
	}
	return filepath.Join(dir, s.Last.Accepted), s.Cut, nil
}

// Read reads the record in dir. A missing record has no decision.
func Read(dir string) (s State, err error) {
	name := filepath.Join(dir, FileName)
	if err := checkRecordFile(name); err != nil {
		return s, err
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, diag.PathOnly(err)
	}
	defer f.Close()
	text, err := readRecord(f, name)
	if err != nil {
		return s, err
	}
	s, _, err = parseRecord(name, text)
	return s, err
}

func readRecord(f io.Reader, path string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	switch {
	case err != nil:
		return nil, diag.PathOnly(err)
	case len(text) > maxRecord:
		return nil, fmt.Errorf("%s: the record has more than %d MiB; delete its oldest lines", path, maxRecord>>20)
	}
	return text, nil
}

// parseRecord checks all decisions of a record and returns the last one and the offset at which its
// line ends. A last line without a line break that is not a decision was cut when its process
// ended; it does not count.
func parseRecord(path string, text []byte) (s State, end int64, err error) {
	n := 0
	for len(text) > 0 {
		n++
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		size := int64(len(text) - len(rest))
		text = rest
		if len(bytes.TrimSpace(line)) == 0 {
			end += size
			continue
		}
		var d Decision
		if err := json.Unmarshal(line, &d); err != nil && !whole {
			s.Cut = fmt.Sprintf("%s:%d: the last decision is cut and does not count; accept its run again if it is to be the baseline", path, n)
			return s, end, nil
		} else if err != nil {
			return s, end, fmt.Errorf("%s:%d: malformed decision: %w; restore the file from its history", path, n, err)
		}
		// A path could name a file outside the directory.
		if d.Accepted == "" || filepath.Base(d.Accepted) != d.Accepted {
			return s, end, fmt.Errorf("%s:%d: accepted is %q, want the name of a file in the same directory", path, n,
				d.Accepted)
		}
		s.Last = d
		end += size
	}
	return s, end, nil
}
