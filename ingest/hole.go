package ingest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
)

// maxHole is how many bytes of a hole at the end of a file are read.
const maxHole = 256 << 20

// rest returns how many stored bytes follow those that were read, or 0 if the input has
// no size.
func (f *File) rest() int64 {
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

// drain reads the rest of the stored bytes for their digest. It leaves out what nobody
// asks for, and returns how many bytes that is: all of a file whose digest is not wanted,
// and a hole of over 256 MiB at the end of a file, which takes minutes to read.
func (f *File) drain() (left int64, err error) {
	for err == nil {
		rest := f.rest()
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

// holeBehind reports whether a file has no data on the disk behind an offset. It is
// false if the system does not tell.
func (f *File) holeBehind(offset int64) bool {
	const seekData = 3 // SEEK_DATA of Linux
	file, isFile := f.raw.r.(*os.File)
	if !isFile || !f.whole || runtime.GOOS != "linux" {
		return false
	}
	_, err := file.Seek(offset, seekData)
	if _, back := file.Seek(f.raw.n, io.SeekStart); back != nil {
		return false // so does the next read
	}
	return errors.Is(err, syscall.ENXIO)
}

// endsInHole reports whether the content that was just read, what is buffered of it and
// all that follows are zeros: the file was made longer than what was written to it.
func (f *File) endsInHole(read []byte) bool {
	if f.content != f.buf || f.Compression != "none" || !isZero(read) {
		return false
	}
	buffered, _ := f.buf.Peek(f.buf.Buffered())
	return isZero(buffered) && f.rest() > 0 && f.holeBehind(f.raw.n)
}

func isZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }
