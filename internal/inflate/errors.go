package inflate

import (
	"errors"
	"fmt"
)

var (
	// ErrHeader reports that no gzip member begins where one is expected: at
	// the start of the input, or after a member if the input continues.
	ErrHeader = errors.New("not a gzip header")

	// ErrNotGzip is the ErrHeader for bytes that do not begin like a gzip
	// header. After a member such bytes do not belong to the file's data.
	ErrNotGzip = fmt.Errorf("%w", ErrHeader)

	// ErrChecksum reports that a member decodes, but not to the length and
	// checksum in its trailer.
	ErrChecksum = errors.New("gzip checksum does not match")
)

// A CorruptError reports data that no compressor writes.
type CorruptError struct {
	Offset int64  // bytes of the compressed input up to and including the one with the error
	Msg    string // what is wrong
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("byte %d: corrupt compressed data: %s", e.Offset, e.Msg)
}

// corrupt returns a CorruptError for the current position.
func (in *input) corrupt(format string, args ...any) error {
	return &CorruptError{Offset: in.offset(), Msg: fmt.Sprintf(format, args...)}
}
