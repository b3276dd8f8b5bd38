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

// savedSchema is how a summary that assay wrote says so: the schema is the first
// of its fields. Other versions are ours too, and reading them says what to do.
var savedSchema = lazyregexp.New(`^(?:\xef\xbb\xbf)?\s*\{\s*"schema"\s*:\s*"assay/summary/`)

func isSaved(_ string, head []byte) bool {
	return bytes.Contains(head, []byte(`"assay/summary/`)) && savedSchema().Match(head)
}

// isNamedSaved keeps summaries in a directory from being read besides the traces
// that they were made of: see [Choice.walk].
func isNamedSaved(string, []byte) bool { return false }

// savedShare is the part of the memory that the text of a summary may have: its
// rows take several times that.
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
