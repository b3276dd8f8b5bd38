package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"assay/internal/lazyregexp"
	"assay/internal/unit"
	"assay/summary"
	"assay/trace"
)

// savedSchema matches the beginning of a summary that assay wrote, whose first field is
// the schema. It accepts every version of the schema; the reader returns an error that
// says what to do with a version that it cannot read.
var savedSchema = lazyregexp.New(`^(?:\xef\xbb\xbf)?\s*\{\s*"schema"\s*:\s*"assay/summary/`)

func isSaved(_ string, head []byte) bool {
	return bytes.Contains(head, []byte(`"assay/summary/`)) && savedSchema().Match(head)
}

// isNamedSaved returns false, so that summaries in a directory are not read together with
// the traces from which they were made: see [Choice.walk].
func isNamedSaved(string, []byte) bool { return false }

// savedShare is the divisor of the memory limit that gives the maximum length of the text
// of a summary. Its rows need several times as much memory.
const savedShare = 16

func loadSaved(f *File, sel trace.Select, in *Input) (err error) {
	limit := sel.Limits.Memory / savedShare
	if limit <= 0 {
		limit = 256 << 20
	}
	text, sum := &io.LimitedReader{R: f, N: limit + 1}, sha256.New()
	in.Summary, err = summary.Read(io.TeeReader(text, sum), f.Path)
	in.Content = hex.EncodeToString(sum.Sum(nil))
	if text.N == 0 {
		in.Summary = nil
		return fmt.Errorf("%s: the summary is over the limit of %s of text; raise --max-memory", f.Path, unit.FineBytes(limit))
	}
	return err
}
