package ingest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"assay/trace"
)

func loadBytes(t *testing.T, stored []byte, bomb, input int64) (*Input, error) {
	t.Helper()
	f, err := open(Stdin, bytes.NewReader(stored), bomb, sha256.New())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sel := trace.SelectAll()
	sel.Limits.Input = input
	return Load(f, sel)
}

// codes returns the codes of a trace's issues.
func codes(in *Input) (out []string) {
	for _, is := range in.Trace.Issues {
		out = append(out, is.Code)
	}
	return out
}

// TestBombs: what inflates out of proportion ends early, keeps what came before
// it, and is read on when the user says how far.
func TestBombs(t *testing.T) {
	const size, bomb = 8 << 20, 2 << 20
	spaces := "[" + plain[len(`{"traceEvents":[`):strings.Index(plain, "]")] + "," + strings.Repeat(" ", size) + "]"
	for name, stored := range map[string][]byte{
		"gzip": gz(t, spaces), "zstd": zst(t, spaces), "gzip in gzip": gz(t, string(gz(t, spaces))), "zstd in gzip": gz(t, string(zst(t, spaces))),
	} {
		in, err := loadBytes(t, stored, bomb, 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if in.Trace.Activities.Len() != 1 || strings.Join(codes(in), " ") != "inflation-limit" || in.Trace.Complete {
			t.Errorf("%s: %d kernels, issues %v", name, in.Trace.Activities.Len(), in.Trace.Issues)
		}
		if at := in.Trace.Issues[0].First.Offset; at < bomb || at > 2*bomb {
			t.Errorf("%s: it ends at byte %d, want some more than %d", name, at, bomb)
		}
		if in, err = loadBytes(t, stored, bomb, 2*size); err != nil || len(in.Trace.Issues) > 0 || !in.Trace.Complete {
			t.Errorf("%s: with a limit of its own: %v, %+v", name, err, in)
		}
		if in, err = loadBytes(t, stored, 2*size, 0); err != nil || len(in.Trace.Issues) > 0 {
			t.Errorf("%s: under the limit: %v", name, err)
		}
	}
	var limit *trace.LimitError
	if _, err := loadBytes(t, gz(t, "["+strings.Repeat(" ", size)), bomb, 0); !errors.As(err, &limit) {
		t.Errorf("nothing but a bomb: %v", err)
	}
	// A packing in a packing that has no content at all never gives Load a byte.
	nothing := bytes.Repeat(gz(t, ""), size/20)
	if _, err := loadBytes(t, gz(t, string(nothing)), bomb, 0); err == nil || !strings.Contains(err.Error(), "bomb") {
		t.Errorf("members without content: %v", err)
	}
}

// TestGoodRatio: a trace that is large and shrinks as traces do is no bomb.
func TestGoodRatio(t *testing.T) {
	var b strings.Builder
	b.WriteString("[")
	for i := range 20000 {
		b.WriteString(`{"ph":"X","cat":"kernel","name":"void gemm<float, 128, 64, 3>(float const*, float*)","pid":0,"tid":7,"ts":`)
		b.WriteString(strings.Repeat("1", 1+i%9) + `,"dur":2},`)
	}
	b.WriteString("{}]")
	stored := gz(t, b.String())
	if in, err := loadBytes(t, stored, 1, 0); err != nil || len(in.Trace.Issues) > 0 {
		t.Errorf("%d bytes of %d: %v, %+v", len(stored), b.Len(), err, in)
	}
}

// TestInputLimit checks that an input of exactly the limit is read without an issue,
// and that one more byte has an issue.
func TestInputLimit(t *testing.T) {
	for name, stored := range map[string][]byte{"plain": []byte(plain), "gzip": gz(t, plain)} {
		in, err := loadBytes(t, stored, bombSize, int64(len(plain)))
		if err != nil || len(in.Trace.Issues) > 0 {
			t.Errorf("%s: at the limit: %v, %v", name, err, in)
		}
		in, err = loadBytes(t, stored, bombSize, int64(len(plain)-1))
		if err != nil || strings.Join(codes(in), " ") != "input-limit" || in.Trace.Activities.Len() != 1 || in.SHA256 != "" {
			t.Errorf("%s: one byte over it: %v, %+v", name, err, in)
		}
		if _, err = loadBytes(t, stored, bombSize, 10); err == nil || !strings.Contains(err.Error(), "--max-input") {
			t.Errorf("%s: ten bytes: %v", name, err)
		}
	}
}
