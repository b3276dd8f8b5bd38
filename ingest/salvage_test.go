package ingest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/diag"
	"assay/internal/profile"
	"assay/trace"
)

// wholeFiles has a small file of each format that is read as a stream.
func wholeFiles(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{
		"chrome trace": []byte(`{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2},{"ph":"X","cat":"kernel","name":"l","pid":0,"tid":7,"ts":5,"dur":2}]}`),
		"nsys table":   []byte(nsysTable),
		"folded":       []byte("main;step;forward 12\nmain;step;backward 30\nmain;idle 7\n"),
	}
	for name, path := range map[string]string{
		"torch table": "testdata/torchprof/cuda.txt", "pstats file": "testdata/profilers/cprofile.prof", "pstats text": "testdata/profilers/pstats.txt",
		"yappi": "testdata/profilers/yappi_cpu.txt", "callgrind": "testdata/profilers/yappi_cpu.callgrind",
		"snapshot": "torchprof/memory/testdata/constructed_proto4.pickle",
	} {
		b, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	b := profile.NewBuilder(profile.Column{Name: "time", Unit: "nanoseconds"})
	for i := range 40 {
		b.Add([]profile.Frame{{Name: "main"}, {Name: fmt.Sprintf("kernel_%d_of_a_library_with_long_names_%x", i, i*i*7919)}}, nil, int64(i+1))
	}
	var pprof bytes.Buffer
	if err := b.Profile().WritePprof(&pprof); err != nil {
		t.Fatal(err)
	}
	out["pprof"] = []byte(ungzipped(t, pprof.Bytes()))
	return out
}

func ungzipped(t *testing.T, b []byte) string {
	t.Helper()
	f, err := Open(Stdin, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out strings.Builder
	if _, err := f.content.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// contentOf returns what was read of an input, but for issues, and its issues.
func contentOf(in *Input) (content string, issues []diag.Issue) {
	switch {
	case in.Trace != nil:
		return fmt.Sprint(in.Trace.Activities.Len()), in.Trace.Issues
	case in.Tables != nil:
		for _, t := range in.Tables.List {
			content += fmt.Sprintf("%s %+v\n", t.Name, t.Rows)
		}
		return content, in.Tables.Issues
	case in.Profile != nil:
		return fmt.Sprintf("%+v", in.Profile.Samples), in.Profile.Issues
	}
	return fmt.Sprintf("%d %+v", in.Memory.Records, in.Memory.Devices[0].Segments), in.Memory.Issues
}

// TestChecksum: a file whose checksum is cut off or wrong is read as far as the
// whole file is, and an issue says what is wrong. The whole files are the measure.
func TestChecksum(t *testing.T) {
	for name, whole := range wholeFiles(t) {
		in, err := load(bytes.NewReader(whole))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, _ := contentOf(in)
		packed := map[string][]byte{"gzip": gz(t, string(whole)), "zstd": zst(t, string(whole))}
		for packing, stored := range packed {
			for damage, broken := range map[string][]byte{
				"cut by 1": stored[:len(stored)-1], "cut by 3": stored[:len(stored)-3], "cut by 4": stored[:len(stored)-4],
				"wrong": append(slices.Clone(stored[:len(stored)-1]), stored[len(stored)-1]^0x55),
			} {
				in, err := load(bytes.NewReader(broken))
				if err != nil {
					t.Errorf("%s, %s, %s: %v", name, packing, damage, err)
					continue
				}
				got, issues := contentOf(in)
				said := slices.ContainsFunc(issues, func(is diag.Issue) bool { return is.Code == "input-damaged" || is.Code == "input-truncated" })
				if got != want || !said {
					t.Errorf("%s, %s, %s: issues %+v, content\n%.200s\nwant\n%.200s", name, packing, damage, issues, got, want)
				}
			}
		}
	}
}

func load(r *bytes.Reader) (*Input, error) {
	f, err := Open(Stdin, r)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Load(f, trace.SelectAll())
}

// TestCutMiddle: a file that is cut in the middle is read as far as it goes, whichever
// way it is packed, and an issue says that something is missing.
func TestCutMiddle(t *testing.T) {
	for name, whole := range wholeFiles(t) {
		part := whole[:len(whole)*7/10]
		cuts := map[string][]byte{"plain": part, "gzip whole": gz(t, string(part)), "zstd whole": zst(t, string(part))}
		if packed := gz(t, string(whole)); len(packed) > 600 {
			cuts["gzip cut"] = packed[:len(packed)*7/10]
		}
		for packing, broken := range cuts {
			in, err := load(bytes.NewReader(broken))
			if err != nil {
				t.Errorf("%s, %s: %v", name, packing, err)
				continue
			}
			got, issues := contentOf(in)
			if got == "" || !slices.ContainsFunc(issues, func(is diag.Issue) bool { return is.Severity > diag.Info }) {
				t.Errorf("%s, %s: issues %+v, content %.200s", name, packing, issues, got)
			}
		}
	}
}
