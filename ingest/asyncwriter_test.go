package ingest

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestBeside: what is written beside arrives in order and complete, whatever parts it comes in, and a
// panic arrives, too.
func TestBeside(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var want, got bytes.Buffer
	b := newAsyncWriter(&got)
	for range 200 {
		p := make([]byte, r.IntN(3*asyncBlockSize))
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		want.Write(p)
		b.write(p)
		clear(p) // the caller uses its memory again
	}
	b.wait()
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%d bytes, want %d", got.Len(), want.Len())
	}
	defer func() {
		if reason := recover(); reason != "bad text" {
			t.Errorf("recovered %v", reason)
		}
	}()
	b = newAsyncWriter(panics{})
	for range 3 * asyncBlocks {
		b.write([]byte("text"))
	}
	b.wait()
}

type panics struct{}

func (panics) Write([]byte) (int, error) { panic("bad text") }
