package outfile

import (
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compressed calls encode with a writer that compresses as the name of the output says.
func Compressed(name string, w io.Writer, encode func(io.Writer) error) error {
	var z io.WriteCloser
	switch {
	case strings.HasSuffix(name, ".gz"):
		z = gzip.NewWriter(w)
	case strings.HasSuffix(name, ".zst"):
		enc, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		z = enc
	default:
		return encode(w)
	}
	return errors.Join(encode(z), z.Close())
}
