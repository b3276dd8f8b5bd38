package classify

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/internal/test"
)

// oracleComm and oracleBase are the definition of communication from before
// there were rules. The rules may match more names, and may not contradict it.
var oracleComm = regexp.MustCompile(`(?i)nccl|rccl|msccl|cross_device_reduce|multimem_(all|reduce)|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all`)

func oracleBase(name string) string {
	var out []rune
	depth := 0
	for _, c := range strings.TrimPrefix(name, "void ") {
		switch {
		case c == '<' || c == '(':
			depth++
		case c == '>' || c == ')':
			depth--
		case depth == 0:
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return name
	}
	return string(out)
}

func oracleClass(name string) Class {
	if oracleComm.MatchString(oracleBase(name)) {
		return Comm
	}
	return Compute
}

func TestClassEqualsOracle(t *testing.T) {
	for _, r := range readTable(t, "testdata/kernels.tsv") {
		if got, want := Default().Kernel(r.name).Class, oracleClass(r.name); got != want {
			t.Errorf("%.120s is %s, want %s", r.name, got, want)
		}
	}
	// Every word of the definition is communication, in any letter case.
	for _, name := range []string{
		"ncclX", "RCCL_x", "a_msccl", "cross_device_reduce_2stage", "multimem_all_x", "multimem_reduce_x",
		"allreduce", "all_reduce", "AllReduce", "allgather", "all_gather", "reducescatter", "Reduce_Scatter",
		"alltoall", "all_to_all", "all_toall", "allto_all", "f<x>::allReduce(int)",
	} {
		if got := Default().Kernel(name).Class; got != Comm || oracleClass(name) != Comm {
			t.Errorf("%q is %s, want %s", name, got, Comm)
		}
	}
}

// TestCorpus reads the traces of the corpus, if it is present: the class of
// every kernel is the oracle's, and little GPU time is in kernels without a
// matching rule.
func TestCorpus(t *testing.T) {
	total := corpusKernels(t)
	var all, other float64
	for name, us := range total {
		m := Default().Kernel(name)
		if want := oracleClass(name); m.Class != want {
			t.Errorf("%.120s is %s, want %s", name, m.Class, want)
		}
		all += us
		if m.Category == Other {
			other += us
			t.Logf("no rule knows %.120s (%.0f us)", name, us)
		}
	}
	t.Logf("%d kernel names, %.2f%% of %.0f us in kernels that no rule knows", len(total), 100*other/all, all)
	if len(total) < 500 || other > 0.05*all {
		t.Errorf("%d names, %.0f us of %.0f us unknown; want at least 500 names and at most 5%% unknown", len(total), other, all)
	}
}

// corpusKernels returns the time in microseconds of each kernel of the corpus
// by name, or skips the test.
func corpusKernels(t *testing.T) map[string]float64 {
	t.Helper()
	if testing.Short() {
		t.Skip("reads whole traces")
	}
	dir := test.Corpus(t)
	total := map[string]float64{}
	for _, sub := range []string{"kineto", filepath.Join("formats", "kineto")} {
		err := filepath.WalkDir(filepath.Join(dir, sub), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(d.Name(), ".json") || strings.HasPrefix(d.Name(), "execution_details") {
				return err
			}
			return addKernels(total, file)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return total
}

// addKernels adds the durations of the kernels in a trace to total.
func addKernels(total map[string]float64, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	src, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	// Events are found by their category, because parsing all of the JSON takes
	// seconds. An event's object has no other braces before its category.
	for at := 0; ; {
		i := bytes.Index(src[at:], []byte(`"cat"`))
		if i < 0 {
			return nil
		}
		at += i + len(`"cat"`)
		if !kernelCategory.Match(src[at:min(at+20, len(src))]) {
			continue
		}
		var e struct {
			Ph, Name string
			Dur      json.Number
		}
		open := bytes.LastIndexByte(src[:at], '{')
		if err := json.NewDecoder(bytes.NewReader(src[open:])).Decode(&e); err != nil {
			return err
		}
		if us, err := e.Dur.Float64(); e.Ph == "X" && err == nil {
			total[e.Name] += us
		}
	}
}

var kernelCategory = regexp.MustCompile(`^\s*:\s*"[Kk]ernel"`)
