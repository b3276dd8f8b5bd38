package ingest

import (
	"io"

	"assay/trace"
)

// The limits of decompression bombs, for inputs of any format.
const (
	bombRatio = trace.BombRatio
	bombSize  = trace.BombSize
)

// A guard stops a decompressor whose output grows out of proportion to the stored
// bytes. Each decompressor has one: if the content is compressed twice, the outer
// layer can expand without end while the inner one produces nothing.
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
	case g.f.max > 0 && g.n/2 > g.f.max: // half, so that the limit of the content applies first
		return n, trace.InputLimit(g.f.max)
	case g.f.max == 0 && g.n > g.f.bomb && g.n/bombRatio > stored:
		return n, trace.InflationLimit(stored, g.n)
	}
	return n, nil
}
