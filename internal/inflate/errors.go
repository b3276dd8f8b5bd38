package inflate

import (
	"errors"
	"fmt"
)

var (
	// ErrHeader reports that a gzip member should begin where none does: at the
	// start of the input, or behind a member where the input goes on.
	ErrHeader = errors.New("not a gzip header")

	// ErrNotGzip is the ErrHeader of bytes that do not even begin like gzip's.
	// Behind a member they are no part of the file's data.
	ErrNotGzip = fmt.Errorf("%w", ErrHeader)

	// ErrChecksum reports that a member decodes, but not to the length and
	// checksum that it states.
	ErrChecksum = errors.New("gzip checksum does not match")
)

// A CorruptError reports data that no compressor writes.
type CorruptError struct {
	Offset int64  // bytes of the compressed input up to and with the one where it went wrong
	Msg    string // what is wrong with it
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("byte %d: corrupt compressed data: %s", e.Offset, e.Msg)
}

// corrupt returns a CorruptError for the place that was reached.
func (in *input) corrupt(format string, args ...any) error {
	return &CorruptError{Offset: in.offset(), Msg: fmt.Sprintf(format, args...)}
}
