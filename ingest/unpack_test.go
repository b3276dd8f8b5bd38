package ingest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"assay/internal/inflate"
	"assay/trace"
)

// isRefusal reports whether err says that an input is nothing that assay reads.
func isRefusal(err error) bool {
	var r *Refusal
	return errors.As(err, &r)
}

// harmless is what a reader of the content asks of its last error.
func harmless(err error) bool {
	var h interface{ Harmless() bool }
	return errors.As(err, &h) && h.Harmless()
}

// stored packs s so that each byte of it is a byte of the result.
func stored(t *testing.T, s string) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[(at+len(b))%len(b)] ^= 1
	return b
}

// TestEnds: only what follows whole compressed data is harmless.
func TestEnds(t *testing.T) {
	one := gz(t, plain)
	two := gz(t, plain[:50], plain[50:])
	second := len(gz(t, plain[:50])) // where the second member starts
	frame := zst(t, plain)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, tt := range map[string]struct {
		stored   []byte
		content  string
		harmless bool
		want     error // nil if tt.harmless, or any error does
	}{
		"whole":                      {one, plain, false, io.EOF},
		"members":                    {two, plain, false, io.EOF},
		"an empty member":            {join(gz(t, ""), one), plain, false, io.EOF},
		"long tail":                  {join(one, []byte("<garbage> <garbage>")), plain, true, nil},
		"short tail":                 {join(one, []byte("\n")), plain, true, nil},
		"tail of members":            {join(two, []byte("x")), plain, true, nil},
		"zero padding":               {join(one, make([]byte, 512)), plain, true, nil},
		"checksum":                   {flip(one, -8), plain, false, inflate.ErrChecksum},
		"length":                     {flip(one, -4), plain, false, inflate.ErrChecksum},
		"first member's checksum":    {flip(two, second-8), plain[:50], false, inflate.ErrChecksum},
		"a stored byte":              {flip(stored(t, plain), 40), "", false, inflate.ErrChecksum},
		"cut in the checksum":        {one[:len(one)-3], plain, false, io.ErrUnexpectedEOF},
		"cut behind one byte":        {two[:second+1], plain[:50], false, io.ErrUnexpectedEOF},
		"cut in a header":            {two[:second+7], plain[:50], false, io.ErrUnexpectedEOF},
		"a member of another method": {flip(two, second+2), plain[:50], false, inflate.ErrHeader},
		"tail outside, cut inside":   {join(gz(t, string(one[:len(one)-3])), []byte("tail")), plain, false, io.ErrUnexpectedEOF},
		"tail outside, whole inside": {join(gz(t, string(one)), []byte("tail")), plain, true, nil},
		"zstd":                       {join(frame, frame), plain + plain, false, io.EOF},
		"zstd after a frame to skip": {join([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00skip"), frame), plain, false, io.EOF},
		"zstd tail":                  {join(frame, []byte("<garbage>")), plain, true, nil},
		"zstd checksum":              {flip(frame, -1), "", false, nil},
		"zstd cut":                   {frame[:len(frame)-5], "", false, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Open(Stdin, bytes.NewReader(tt.stored))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, err := io.ReadAll(f)
			if err == nil {
				err = io.EOF
			}
			if tt.content != "" && string(got) != tt.content {
				t.Errorf("content %q, want %q", got, tt.content)
			}
			if harmless(err) != tt.harmless || tt.want != nil && !errors.Is(err, tt.want) || !tt.harmless && tt.want == nil && err == io.EOF {
				t.Errorf("ends with %v, harmless %v; want %v, %v", err, harmless(err), tt.want, tt.harmless)
			}
			if _, again := f.Read(make([]byte, 1)); again == nil {
				t.Error("goes on behind its end")
			}
		})
	}
}

// TestCut: what breaks off or is damaged before its first byte is not called
// empty, wherever that is.
func TestCut(t *testing.T) {
	frame := zst(t, plain)
	packed := gz(t, plain)
	check := func(name string, stored []byte) {
		f, err := Open(Stdin, bytes.NewReader(stored))
		if err == nil {
			_, err = Load(f, trace.SelectAll())
			f.Close()
		}
		if err == nil {
			return // enough for the event that the trace has
		}
		if got := err.Error(); strings.Contains(got, "empty") || !strings.HasPrefix(got, "<stdin>") || strings.Contains(got, "text but no trace") {
			t.Errorf("%s cut at %d of its bytes: %v", name, len(stored), err)
		}
	}
	for n := 4; n < len(packed); n++ {
		check("gzip", packed[:n])
	}
	for n := 4; n < len(frame); n++ {
		check("zstd", frame[:n])
	}
	f, err := Open(Stdin, bytes.NewReader(packed[:12]))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Peek(); err == nil || !strings.Contains(err.Error(), "cut or damaged") || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, want that it is cut", err)
	}
}

// TestZstdWindow: a file whose window needs more memory than assay gives says so.
func TestZstdWindow(t *testing.T) {
	// A frame header whose window descriptor is 2^(10+exponent) bytes, and a
	// last block with the content as it is.
	frame := func(exponent byte) []byte {
		size := uint32(len(plain))<<3 | 1
		return append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, exponent << 3, byte(size), byte(size >> 8), byte(size >> 16)}, plain...)
	}
	for exponent, fits := range map[byte]bool{17: true, 19: true, 20: false, 21: false} {
		f, err := Open(Stdin, bytes.NewReader(frame(exponent)))
		if err != nil {
			t.Fatal(err)
		}
		head, err := f.Peek()
		f.Close()
		if fits && (err != nil || string(head) != plain) {
			t.Errorf("window of 2^%d: %q, %v", 10+exponent, head, err)
		}
		if !fits && (!isRefusal(err) || !strings.Contains(err.Error(), "window over the limit of 512 MiB") || !strings.Contains(err.Error(), "without --long")) {
			t.Errorf("window of 2^%d: %v, want a refusal", 10+exponent, err)
		}
	}
}

// TestWhiteSpace: the content starts behind white space, up to a limit.
func TestWhiteSpace(t *testing.T) {
	for n, fits := range map[int]bool{0: true, 1: true, sniffLen - 1: true, sniffLen: true, 100000: true, bufferSize - 4: true, bufferSize: false, 2 * bufferSize: false} {
		f, err := Open(Stdin, strings.NewReader(strings.Repeat(" \n", n/2)+strings.Repeat("\t", n%2)+plain))
		if err != nil {
			t.Fatal(err)
		}
		in, err := Load(f, trace.SelectAll())
		f.Close()
		switch {
		case fits && (err != nil || in.Trace.Activities.Len() != 1):
			t.Errorf("%d bytes of white space: %v", n, err)
		case !fits && (!isRefusal(err) || strings.Contains(err.Error(), "empty") || !strings.Contains(err.Error(), "white space")):
			t.Errorf("%d bytes of white space: %v, want a refusal", n, err)
		}
	}
}

// TestNoFile checks that a directory instead of a file returns the error of the
// operating system.
func TestNoFile(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	f, err := Open(Stdin, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Peek(); err == nil || !strings.HasPrefix(err.Error(), "<stdin>: ") || strings.Contains(err.Error(), "damaged") || errors.Is(err, io.EOF) {
		t.Errorf("%v, want the system's reason", err)
	}
}

func TestShellQuote(t *testing.T) {
	for s, want := range map[string]string{
		"a/b-1.zip": "a/b-1.zip", "-rf.zip": "./-rf.zip", "": "''",
		"my trace.zip": "'my trace.zip'", "$(id).zip": "'$(id).zip'", "it's": `'it'\''s'`, "~": "'~'", "é": "'é'",
	} {
		if got := shellQuote(s); got != want {
			t.Errorf("shellQuote(%q) = %s, want %s", s, got, want)
		}
	}
	if got := withFile("xz -dc FILE | assay summary", stdinName); got != "xz -dc FILE | assay summary" {
		t.Errorf("standard input: %s", got)
	}
}
