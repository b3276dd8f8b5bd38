package database

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"modernc.org/sqlite/vfs"

	"assay/internal/diag"
	"assay/internal/unit"
)

// A header has the sizes that the first 100 bytes of a database state.
type header struct {
	page  int64 // bytes
	pages int64 // 0 if the header does not state it
}

// headerOf reads the header of a database, and the size of its file.
func headerOf(path string) (h header, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return h, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return h, 0, err
	}
	var b [100]byte
	if _, err := io.ReadFull(f, b[:]); err != nil {
		return h, info.Size(), nil // SQLite will return the error
	}
	if h.page = int64(binary.BigEndian.Uint16(b[16:])); h.page == 1 {
		h.page = 65536
	}
	if h.page < 512 || h.page&(h.page-1) != 0 {
		h.page = 0
	}
	// The count is valid if the last change was made by a version that writes it.
	if bytes.Equal(b[24:28], b[92:96]) {
		h.pages = int64(binary.BigEndian.Uint32(b[28:]))
	}
	return h, info.Size(), nil
}

// whole returns the size of a file in bytes without an incomplete last page. SQLite would
// read zeros for the missing part of that page, as rows of device 0 at time 0.
func (h header) whole(size int64) int64 {
	if h.page == 0 {
		return size
	}
	return size / h.page * h.page
}

// cut returns the issue for a file that is shorter than its header states.
func (h header) cut(file string, size int64) (is diag.Issue, ok bool) {
	missing := h.page*h.pages - size
	if h.page == 0 || missing <= 0 {
		return is, false
	}
	help := fmt.Sprintf("The database is cut: its header states %s pages of %d bytes, and the last %s are missing (%s bytes)",
		unit.Count(h.pages), h.page, unit.Bytes(missing), unit.Count(missing))
	if part := size - h.whole(size); part > 0 {
		help += fmt.Sprintf("; the last page is incomplete, and its %s bytes were not read", unit.Count(part))
	}
	return diag.Issue{Code: "export-cut", Severity: diag.DataLoss, First: diag.Pos{File: file, Offset: size},
		Help: help + ". Rows are missing from every table that has pages there, so no verdict is given. Copy the file again, or export it again."}, true
}

// A cutFile is a file system whose only file is one database, without an incomplete page.
type cutFile struct {
	name string
	size int64
}

// Open opens the database, and returns fs.ErrNotExist for every other name.
func (c cutFile) Open(name string) (fs.File, error) {
	if name != c.name {
		return nil, fs.ErrNotExist
	}
	f, err := os.Open(c.name)
	if err != nil {
		return nil, err
	}
	return &pages{f: f, size: c.size}, nil
}

// pages reads a file up to a size.
type pages struct {
	f    *os.File
	size int64
	at   int64
}

// Read reads len(b) bytes, or as many as the file has, without an error at the end:
// SQLite expects the number of bytes.
func (p *pages) Read(b []byte) (int, error) {
	n := min(int64(len(b)), max(0, p.size-p.at))
	got, err := p.f.ReadAt(b[:n], p.at)
	p.at += int64(got)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return got, err
}

// Seek sets where the next Read begins.
func (p *pages) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart {
		return 0, errors.New("seek from the start only")
	}
	p.at = offset
	return offset, nil
}

// Close closes the file.
func (p *pages) Close() error { return p.f.Close() }

// Stat returns the information on the file with the size of the whole pages.
func (p *pages) Stat() (fs.FileInfo, error) {
	info, err := p.f.Stat()
	return cutInfo{info, p.size}, err
}

type cutInfo struct {
	fs.FileInfo
	size int64
}

// Size returns the bytes of the whole pages.
func (i cutInfo) Size() int64 { return i.size }

// cutVFS registers a file system in which SQLite sees only the whole pages of a file.
// It returns its name and a function that releases it.
func cutVFS(path string, size int64) (name string, release func(), err error) {
	name, files, err := vfs.New(cutFile{path, size})
	if err != nil {
		return "", nil, err
	}
	return name, func() { files.Close() }, nil
}

// journalMagic is the first bytes of a rollback journal that was not applied.
var journalMagic = []byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}

// Cut returns the issue for a database that is shorter than its header states.
func (db *Database) Cut(file string) (is diag.Issue, ok bool) { return db.header.cut(file, db.size) }

// Unfinished returns the issue for a database that another program was changing, or false.
func Unfinished(path, file string) (is diag.Issue, ok bool) {
	is = diag.Issue{Code: "export-unfinished", Severity: diag.Suspect, First: diag.Pos{File: file}, Help: diag.HelpOf("export-unfinished")}
	if hotJournal(path) {
		is.Help = "The database has a rollback journal (-journal): a program stopped while writing, so numbers may be wrong. Undo the change by opening it with write access (sqlite3 FILE .tables), or export again."
		return is, true
	}
	info, err := os.Stat(path + "-wal")
	return is, err == nil && info.Size() > 0
}

// hotJournal reports whether the database has a rollback journal that was not applied.
func hotJournal(path string) bool {
	f, err := os.Open(path + "-journal")
	if err != nil {
		return false
	}
	defer f.Close()
	var b [8]byte
	_, err = io.ReadFull(f, b[:])
	return err == nil && bytes.Equal(b[:], journalMagic)
}
