package ingest

import (
	"io"

	"assay/trace"
)

// Real traces shrink to a thirtieth at best, and made up ones to a sixtieth,
// when they are compressed; gzip can do a thousandth, zstd and gzip in gzip far
// less. What inflates by more than this, and to more than a trace of a
// few steps, is taken for a bomb: reading on would take hours.
const (
	bombRatio = 200
	bombSize  = 4 << 30
)

// A guard stops a decompressor whose output grows out of proportion to what is
// stored. Each decompressor has one, because the inner one of two may read without
// end and without producing content.
type guard struct {
	f *File
	r io.Reader
	n int64
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	g.n += int64(n)
	if err != nil {
		return n, err
	}
	stored := g.f.Stored()
	switch {
	case g.f.max > 0 && g.n/2 > g.f.max: // half, so that the content's own limit is met first
		return n, trace.InputLimit(g.f.max)
	case g.f.max == 0 && g.n > g.f.bomb && g.n/bombRatio > stored:
		return n, trace.InflationLimit(stored, g.n)
	}
	return n, nil
}
