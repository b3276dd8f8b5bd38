package redact

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"assay/internal/test"
)

// TestFormats: whatever a format allows is masked, behind whatever begins a word,
// and the table names where each format is published.
func TestFormats(t *testing.T) {
	seed := test.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for _, f := range Formats() {
		if f.Source == "" || f.Kind == "" {
			t.Errorf("%s has no source or kind", f.Form)
		}
		for range 20 {
			token := f.Example(rnd)
			for _, around := range []string{"%s", "push %s now", `{"x":"%s"}`, "a=%s,b", "(%s)", "x_%s", "\x1b[31m%s\x1b[0m", "a%3D%s%26", `a\n%s\n`, `\u003d%s\"`, `\x1b[1;32m%s\x1b[0m`, "&quot;%s&quot;", "%s-b"} {
				text := strings.Replace(around, "%s", token, 1)
				if got := Mask(text); strings.Contains(got, token) {
					t.Errorf("%s: %q became %q", f.Form, text, got)
				}
			}
		}
	}
	if n := len(Formats()); n < 120 {
		t.Errorf("%d formats", n)
	}
}

// TestLookalikes: what only resembles a secret stays as it is.
func TestLookalikes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "lookalikes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); Mask(line) != line {
			t.Errorf("%q became %q", line, Mask(line))
		}
	}
}

// TestNamesOfCorpus: names of kernels, operators and files of real captures stay as
// they are.
func TestNamesOfCorpus(t *testing.T) {
	dir := test.Corpus(t, "kineto")
	paths := test.Files(t, filepath.Join(dir, "*", "*", "*.json.gz"), filepath.Join(dir, "*", "*", "*", "*.json.gz"))
	name := regexp.MustCompile(`"(?:name|External id|Module Hierarchy|kernel_file|Collective name|File)": ?"((?:[^"\\]|\\.)*)"`)
	seen := map[string]bool{}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			f.Close()
			continue
		}
		lines := bufio.NewScanner(z)
		lines.Buffer(nil, 1<<20)
		lines.Split(func(data []byte, end bool) (int, []byte, error) {
			if i := bytes.IndexByte(data, '}'); i >= 0 {
				return i + 1, data[:i], nil
			}
			return bufio.ScanLines(data, end)
		})
		for n := 0; n < 50000 && lines.Scan(); n++ {
			if m := name.FindSubmatch(lines.Bytes()); m != nil && !seen[string(m[1])] {
				seen[string(m[1])] = true
			}
		}
		f.Close()
	}
	if len(seen) < 2000 {
		t.Fatalf("%d distinct names, want 2000", len(seen))
	}
	for n := range seen {
		if got := Mask(n); got != n {
			t.Errorf("%q became %q", n, got)
		}
	}
	t.Logf("%d distinct names", len(seen))
}

// TestPathological: texts that are nothing but beginnings of secrets take time in
// proportion to their length.
func TestPathological(t *testing.T) {
	if !test.Long() {
		t.Skip("measures time: make long")
	}
	units := []string{"KEY=", "eyJ", "eyJ.", "-eyJ", "sk-", "hf_", "token=", "TOKEN=\"", "xtoken=", "://", "://a:b@", `\n`, "%3D", "YWJj", "AAAA",
		"-u a:", "TOKEN='", "Bearer ", "password: ", "-----BEGIN PRIVATE KEY-----", `TOKEN=\"`, `TOKEN=\\\"`, "x.atlasv1.", "0123456789:AA", "a@b",
		`\\"`, "name: ", "wandb login -", "sshpass -p ", "KEY= \n", "a-sk-b", "/aaaa", "_ABCDEFGHIJKLMNOP", "password:\n", "key|", "Basic dXNlcjpw", "token ", "&#61;", "per_token="}
	for _, unit := range units {
		text := strings.Repeat(unit, 1<<20/len(unit))
		start := time.Now()
		Mask(text)
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%q repeated to 1 MB took %v", unit, took)
		} else if took > time.Second/2 {
			t.Logf("%q: %v", unit, took)
		}
	}
}

// TestLayers: base64 and escapes are decoded, one in the other, too.
func TestLayers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	plain := []string{"HF_TOKEN=" + fake(20), "hf_" + fake(34), "https://bob:" + fake(12) + "@host/x", "user:x AKIA" + capitals(16)}
	for _, secret := range plain {
		for range 20 {
			text := secret
			for range 1 + rnd.IntN(2) {
				text = layers[rnd.IntN(len(layers))](text)
			}
			for _, around := range []string{"%s", "x %s y", `{"a":"%s"}`, "/path/%s"} {
				whole := strings.Replace(around, "%s", text, 1)
				if got := Mask(whole); strings.Contains(got, text) {
					t.Errorf("%q of %q became %q", whole, secret, got)
				}
			}
		}
	}
}

// TestStreamAgrees: a stream that a mask would change has secrets, however it is cut
// into blocks.
func TestStreamAgrees(t *testing.T) {
	seed := test.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		var b strings.Builder
		for b.Len() < 60<<10 {
			f := formats[rnd.IntN(len(formats))]
			fmt.Fprintf(&b, `{"name":"kernel_%d","x":"%s"},`, rnd.IntN(1000), strings.Repeat("ab ", rnd.IntN(900)))
			fmt.Fprintf(&b, `{"env":"%s"},`, f.Example(rnd))
		}
		text := b.String()
		distinct := map[string]bool{}
		for _, f := range find(text) {
			distinct[text[f.from:f.to]] = true
		}
		s := NewScanner()
		s.size = 3*overlap + rnd.IntN(4096)
		for rest := text; rest != ""; {
			n := min(len(rest), 1+rnd.IntN(9000))
			s.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		if got := s.Count(); got != int64(len(distinct)) {
			t.Fatalf("%d secrets in the stream, %d are masked", got, len(distinct))
		}
	}
}

// TestKindsAreKnown: each placeholder is one that a second mask leaves.
func TestKindsAreKnown(t *testing.T) {
	for kind := range kinds() {
		if !shown("[" + kind + "]") {
			t.Errorf("[%s] is not known", kind)
		}
	}
	if len(kinds()) < 50 {
		t.Errorf("%d kinds", len(kinds()))
	}
}
