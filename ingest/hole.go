package ingest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
)

// maxHole is the maximum number of bytes of a hole at the end of a file that are read.
const maxHole = 256 << 20

// unread returns the number of stored bytes that were not read yet, or 0 if the size of the
// input is unknown.
func (f *File) unread() int64 {
	file, isFile := f.raw.r.(*os.File)
	if !isFile || !f.whole {
		return 0
	}
	info, err := file.Stat()
	if err != nil {
		return 0
	}
	return max(0, info.Size()-f.raw.n)
}

// drain reads the rest of the stored bytes for their digest. It returns the number of bytes
// that it did not read: all of them if no digest is wanted, and a hole of over 256 MiB at the
// end of a file, which would take minutes to read.
func (f *File) drain() (left int64, err error) {
	for err == nil {
		rest := f.unread()
		if f.raw.sum == nil && rest > 0 || rest > maxHole && f.holeBehind(f.raw.n) {
			return rest, nil
		}
		_, err = io.CopyN(io.Discard, f.buf, maxHole)
	}
	if err == io.EOF {
		err = nil
	}
	return 0, err
}

// holeBehind reports whether a file has no data on the disk after an offset. It returns false
// if the system does not provide that information.
func (f *File) holeBehind(offset int64) bool {
	const seekData = 3 // SEEK_DATA of Linux
	file, isFile := f.raw.r.(*os.File)
	if !isFile || !f.whole || runtime.GOOS != "linux" {
		return false
	}
	_, err := file.Seek(offset, seekData)
	if _, back := file.Seek(f.raw.n, io.SeekStart); back != nil {
		return false // the next read will fail, too
	}
	return errors.Is(err, syscall.ENXIO)
}

// endsInHole reports whether the content that was just read, the buffered content and the
// rest of the file are zeros. This happens if the file was extended before its data was
// written.
func (f *File) endsInHole(read []byte) bool {
	if f.content != f.buf || f.Compression != "none" || !isZero(read) {
		return false
	}
	buffered, _ := f.buf.Peek(f.buf.Buffered())
	return isZero(buffered) && f.unread() > 0 && f.holeBehind(f.raw.n)
}

func isZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }
