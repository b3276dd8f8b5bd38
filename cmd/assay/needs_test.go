package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/test"
)

// everything is all that any output needs, but for details, which JSON has only if it is
// asked for them.
func everything(n need) need {
	return need{measures: analyze.AllMeasures, details: n.details, paths: n.paths, digest: true, secrets: n.secrets}
}

// A shownBy is a command whose output is compared. IN stands for the inputs, FIRST for the
// first of them, and DIR for a directory that it writes.
type shownBy struct {
	args    string
	outputs []output
	real    bool // real captures are given to it too, which takes longer
}

var shownByCommands = []shownBy{
	{"summary IN", []output{screenOutput}, true},
	{"summary IN --format md --brief", []output{pageOutput}, true},
	{"summary IN --format md", []output{mdOutput}, false},
	{"summary IN --format json", []output{jsonOutput}, false},
	{"summary IN --format json --detail", []output{jsonOutput, detailOutput}, false},
	{"summary IN --save DIR", []output{screenOutput, savedOutput}, false},
	{"report IN -o DIR --no-html", []output{screenOutput, mdOutput, jsonOutput, pictureOutput, pathOutput}, false},
	{"report IN -o DIR", []output{screenOutput, mdOutput, jsonOutput, pictureOutput, htmlOutput, pathOutput}, false},
	{"diff FIRST IN", []output{diffOutput}, true},
	{"diff FIRST IN --format md", []output{diffOutput, diffMDOutput}, false},
	{"diff FIRST IN -o DIR --format json", []output{diffOutput, diffJSONOutput}, false},
	{"check IN --baseline FIRST", []output{checkOutput}, true},
	{"check IN --baseline FIRST -o DIR --format json", []output{checkOutput, checkFileOutput}, false},
	{"doctor IN", []output{doctorOutput}, true},
	{"doctor IN --format json", []output{doctorOutput, doctorJSONOutput}, false},
	{"inspect IN --op *", []output{eventOutput}, false},
	{"summary IN --table nvtx_sum", []output{tableOutput}, false},
	{"convert IN --to folded", []output{profileOutput}, false},
	{"convert FIRST --to pprof -o DIR/pprof", []output{profileOutput}, false},
	{"convert IN --to chrome", []output{timelineOutput}, false},
}

// run runs the command and returns all that it prints and writes. Whether it fails is part
// of that: not every input has something to convert or to compare.
func (s shownBy) run(t *testing.T, inputs []string, change func(need) need) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	if strings.Contains(s.args, "DIR/") {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var args []string
	for _, arg := range strings.Fields(s.args) {
		switch arg {
		case "FIRST":
			args = append(args, inputs[0])
		case "IN":
			if strings.HasPrefix(s.args, "diff") {
				args = append(args, inputs[len(inputs)-1])
				continue
			}
			args = append(args, inputs...)
		default:
			args = append(args, strings.Replace(arg, "DIR", dir, 1))
		}
	}
	c := commandNamed(t, args[0])
	c.needs = change
	var stdout, stderr bytes.Buffer
	e := env{strings.NewReader(""), &stdout, &stderr}
	status := exitStatus(e, c, c.run(e, c, args[1:]))
	out := map[string]string{"stdout": stdout.String(), "stderr": strings.ReplaceAll(stderr.String(), dir, "DIR"), "status": fmt.Sprint(status)}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // there is no directory if the command has written nothing
		}
		text, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// inputsOfNeeds returns the inputs that outputs are compared with: generated ones and, if
// there is a corpus, its small traces and ranks.
func inputsOfNeeds(t *testing.T) (generated, real [][]string) {
	gen := filepath.Join("..", "..", "testdata", "gen")
	for _, name := range []string{"host_bound", "llm_train_slower", "rocm", "cpu_only"} {
		generated = append(generated, []string{filepath.Join(gen, "llm_train_step.json.gz"), filepath.Join(gen, name+".json.gz")})
	}
	generated = append(generated, []string{filepath.Join(gen, "llm_train_step.json.gz"), changedTrace(t, filepath.Join(gen, "llm_train_step.json.gz"))})
	if _, ok := test.FindCorpus(t); !ok || testing.Short() {
		return generated, nil
	}
	byDir := map[string][]string{}
	for _, folder := range []string{"kineto", "ranks"} {
		err := filepath.WalkDir(test.Corpus(t, folder), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".json.gz") {
				return err
			}
			if info, err := e.Info(); err == nil && info.Size() < int64(40<<10/test.Every(4)) {
				byDir[filepath.Dir(path)] = append(byDir[filepath.Dir(path)], path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		real = append(real, byDir[dir])
	}
	return generated, real
}

// changedTrace returns the path of a copy of a trace with other shapes and with a secret.
func changedTrace(t *testing.T, path string) string {
	t.Helper()
	text := test.Unpacked(t, path)
	const shape = `"Input Dims": [[12288], [1024, 4096]`
	if !bytes.Contains(text, []byte(shape)) {
		t.Fatalf("%s has no operator with %s", path, shape)
	}
	text = bytes.ReplaceAll(text, []byte(shape), []byte(`"Input Dims": [[12288], [1024, 1024]`))
	text = bytes.Replace(text, []byte("{"), fmt.Appendf(nil, `{"env": {"HF_TOKEN": %q}, `, fakeSecrets()[0]), 1)
	changed := filepath.Join(t.TempDir(), "changed.json")
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return changed
}

// TestNeeds: what is printed and written is the same, byte for byte, whether everything
// is measured or only what the output shows. And an output needs all that the table says:
// without it, the output of some input differs.
func TestNeeds(t *testing.T) {
	generated, real := inputsOfNeeds(t)
	idle := map[output]need{} // what no input has needed yet
	for o, n := range needs {
		idle[o] = n.minus(need{measures: analyze.LayerSteps}) // no input has as many steps: see TestFewSteps of analyze/layers
	}
	for _, s := range shownByCommands {
		inputs := generated
		if s.real {
			inputs = slices.Concat(generated, real)
		}
		for _, in := range inputs {
			want := s.run(t, in, everything)
			if got := s.run(t, in, nil); !reflect.DeepEqual(got, want) {
				t.Errorf("assay %s of %s: %s", s.args, in, firstDifference(got, want))
			}
			differs := map[need]bool{} // without a part; several outputs of a command may have it
			for _, o := range s.outputs {
				for _, one := range idle[o].parts() {
					if _, ok := differs[one]; !ok {
						differs[one] = !reflect.DeepEqual(s.run(t, in, func(n need) need { return n.minus(one) }), want)
					}
					if differs[one] {
						idle[o] = idle[o].minus(one)
					}
				}
			}
		}
	}
	for o, n := range idle {
		if n != (need{}) {
			t.Errorf("%s needs %+v by the table, but is the same without it", o, n)
		}
	}
}

// parts returns each thing of a need by itself.
func (n need) parts() (out []need) {
	for one := analyze.Measures(1); one < analyze.AllMeasures+1; one <<= 1 {
		if n.measures.Has(one) {
			out = append(out, need{measures: one})
		}
	}
	for _, one := range []need{{details: true}, {paths: true}, {digest: true}, {secrets: true}} {
		if one.details && n.details || one.paths && n.paths || one.digest && n.digest || one.secrets && n.secrets {
			out = append(out, one)
		}
	}
	return out
}

// minus returns a need without another.
func (n need) minus(other need) need {
	return need{n.measures &^ other.measures, n.details && !other.details, n.paths && !other.paths, n.digest && !other.digest, n.secrets && !other.secrets}
}

// firstDifference returns the first line in which two results differ.
func firstDifference(got, want map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		a, b := strings.Split(got[name], "\n"), strings.Split(want[name], "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				return fmt.Sprintf("%s, line %d is %.200q, want %.200q", name, i+1, a[i], b[i])
			}
		}
		if len(a) != len(b) {
			return fmt.Sprintf("%s has %d lines, want %d", name, len(a), len(b))
		}
	}
	return "there are other files"
}

// TestCopiesInEveryOutput: a copy of an input counts once, whether the output shows digests or not.
func TestCopiesInEveryOutput(t *testing.T) {
	text, err := os.ReadFile("../../testdata/gen/comm_bound.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"a.json.gz", "b.json.gz"} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, format := range []string{"text", "md", "json"} {
		if out := string(outputOf(t, "summary", dir, "--format", format)); !strings.Contains(out, "input-copied") || strings.Contains(out, "up to 2 runs") {
			t.Errorf("--format %s does not say that one input is a copy:\n%s", format, out)
		}
	}
}
