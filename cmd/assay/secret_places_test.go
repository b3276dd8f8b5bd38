package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
)

// A search looks for secrets in what commands write.
type search struct {
	t     *testing.T
	pairs [256][256]bool       // the first two bytes of secrets
	heads map[string][]planted // by their first bytes
}

// squeeze takes out what a screen and Markdown put between letters.
var squeeze = strings.NewReplacer(" ", "", "\n", "", "\\", "", "│", "", "\t", "")

// in fails the test if a secret is in a text, as it is, decoded as its format is, or
// broken into lines.
func (s *search) in(what string, text []byte) {
	s.t.Helper()
	views := append(decoded(text), string(text), html.UnescapeString(string(text)))
	for i := range views {
		views = append(views, squeeze.Replace(views[i]))
	}
	leaks := map[string]bool{}
	for _, view := range views {
		for i := 0; i+head <= len(view); i++ {
			if !s.pairs[view[i]][view[i+1]] {
				continue
			}
			for _, p := range s.heads[view[i:i+head]] {
				if strings.HasPrefix(view[i:], p.secret) && !leaks[p.text] {
					if leaks[p.text] = true; len(leaks) <= 5 {
						s.t.Errorf("%s shows the secret of %q", what, p.text)
					}
				}
			}
		}
	}
}

// head is how many bytes of a secret are looked up; none is shorter.
const head = 6

// newSearch returns a search for the secrets of all and for them without what
// squeeze takes out.
func newSearch(t *testing.T, all []planted) *search {
	s := &search{t: t, heads: map[string][]planted{}}
	for _, p := range all {
		for _, secret := range []string{p.secret, squeeze.Replace(p.secret)} {
			s.heads[secret[:head]] = append(s.heads[secret[:head]], planted{p.text, secret})
			s.pairs[secret[0]][secret[1]] = true
		}
	}
	return s
}

// decoded returns the texts of a file by each format that it may have.
func decoded(text []byte) (views []string) {
	var b strings.Builder
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var v any
		if dec.Decode(&v) != nil {
			break
		}
		texts(v, &b)
	}
	views = append(views, b.String())
	b.Reset()
	for dec := xml.NewDecoder(bytes.NewReader(text)); ; {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		switch tok := tok.(type) {
		case xml.CharData:
			b.Write(tok)
		case xml.StartElement:
			for _, a := range tok.Attr {
				b.WriteString(a.Value + "\x00")
			}
		}
	}
	views = append(views, b.String())
	if rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll(); err == nil {
		views = append(views, strings.Join(slices.Concat(rows...), "\x00"))
	}
	if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil { // pprof
		plain, _ := io.ReadAll(z)
		views = append(views, string(plain))
	}
	return views
}

func texts(v any, b *strings.Builder) {
	switch v := v.(type) {
	case string:
		b.WriteString(v + "\x00")
	case []any:
		for _, e := range v {
			texts(e, b)
		}
	case map[string]any:
		for k, e := range v {
			b.WriteString(k + "\x00")
			texts(e, b)
		}
	}
}

// run runs a command and looks at all that it prints.
func (s *search) run(args ...string) (status int, stdout string) {
	s.t.Helper()
	status, stdout, _ = s.said(args...)
	return status, stdout
}

// said is run with what the command prints to standard error.
func (s *search) said(args ...string) (status int, stdout, stderr string) {
	s.t.Helper()
	var out, talk bytes.Buffer
	status = run(env{strings.NewReader(""), &out, &talk}, args)
	what := "assay " + strings.Join(args[:min(len(args), 5)], " ")
	s.in(what+" (stdout)", out.Bytes())
	s.in(what+" (stderr)", talk.Bytes())
	return status, out.String(), talk.String()
}

// TestNoSecretLeaves: no output of any command has a secret of any form, wherever in
// the input or in the command line it is.
func TestNoSecretLeaves(t *testing.T) {
	seed := test.Seed(t)
	all := plants(rand.New(rand.NewPCG(seed, 7)))
	if len(all) < 150 {
		t.Errorf("%d forms", len(all))
	}
	s := newSearch(t, all)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		if err := os.WriteFile(in(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return in(name)
	}
	trace := write("trace.json", string(plantedTrace(all)))
	t.Setenv("GITHUB_ACTIONS", "true")
	t.Setenv("GITHUB_STEP_SUMMARY", in("step.md"))

	for _, args := range [][]string{
		{"summary", trace}, {"summary", trace, "--format", "md"}, {"summary", trace, "--format", "md", "--brief"}, {"summary", trace, "--format", "json", "--save", in("saved")},
		{"report", trace, "-o", in("report")}, {"report", trace, "-o", in("redacted"), "--redact"},
		{"doctor", trace}, {"doctor", trace, "--format", "md"}, {"doctor", trace, "--format", "json"},
		{"diff", trace, trace, "-o", in("diff")}, {"diff", trace, trace, "--format", "md"}, {"diff", trace, trace, "--format", "md", "--brief"}, {"diff", trace, trace, "--format", "json"},
		{"convert", trace, "--to", "pprof"}, {"convert", trace, "--to", "folded"}, {"convert", trace, "--to", "folded", "--value", "cpu"},
		{"convert", trace, "--to", "pprof", "--value", "cpu", "-o", in("cpu.pb.gz")},
		{"inspect", trace, "--kernel", "*", "--format", "json"}, {"inspect", trace, "--op", "*", "--top", "1000"}, {"inspect", trace, "--gap", "1", "--format", "json"}, {"inspect", trace, "--at", "1us", "--format", "md"}, {"whatif", trace, "--all"}, {"whatif", trace, "--format", "json"}, {"whatif", trace, "--format", "md"},
		{"table", trace, "kernels"}, {"table", trace, "events", "--python"}, {"table", trace, "events", "--format", "json", "--python"}, {"table", trace, "all", "--format", "parquet", "-o", in("tables")},
		{"table", trace, "all", "--format", "json", "-o", in("tables")}, {"table", trace, "ops", "--format", "md"}, {"table", trace, "kernels", "--by", "name"},
	} {
		if status, _ := s.run(args...); status != exitOK {
			t.Errorf("%q: exit status %d", args[0], status)
		}
	}
	for _, format := range []string{"csv", "text", "md"} {
		s.run("summary", trace, "--table", "cuda_gpu_kern_sum,nvtx_sum,cuda_api_sum", "--format", format)
	}
	folded, log := &strings.Builder{}, &strings.Builder{}
	gates := "kernels.total: '<= 1ns'\n"
	for i, p := range all {
		line := p.text
		if !brokenLines(line) {
			line = strings.NewReplacer("\n", " ", ";", ":").Replace(line)
		} else if line = strings.NewReplacer("\n", `\n`, "\\\n", `\\\n`).Replace(line); strings.Contains(line, ";") {
			continue
		}
		fmt.Fprintf(folded, "main;%s;leaf 5\n", line)
		fmt.Fprintf(log, "%s\n", line)
		if !strings.ContainsAny(p.text, "\"\n\x1b{}\\") {
			gates += fmt.Sprintf("'kernels.total{kernel=\"%s\"}': '<= 1ns'\n", strings.ReplaceAll(p.text, "'", "''"))
		}
		wrong := [][]string{{"summary", "missing " + p.text}, {"explain", p.text}, {p.text}, {"convert", "--to", p.text, trace}, {"whatif", trace, "--remove", "sync~" + p.text}, {"whatif", "missing " + p.text, "--scale", p.text},
			{"table", trace, "kernels", "--where", p.text}, {"table", trace, "kernels", "--where", "name=x and " + p.text + "=1"}, {"table", trace, "kernels", "--where", "total_ns=" + p.text}, {"summary", trace, "--where", "kernel=x or " + p.text}, {"table", trace, "kernels", "--sort", p.text}, {"table", trace, p.text}}
		s.run(wrong[i%len(wrong)]...)
	}
	stacks := write("cpu.folded", folded.String())
	for _, args := range [][]string{{"summary", stacks, "--format", "json"}, {"report", stacks, "-o", in("stacks")}, {"convert", stacks, "--to", "pprof"}, {"convert", stacks, "--to", "folded"}, {"doctor", stacks}, {"summary", write("run.log", log.String())}} {
		s.run(args...)
	}
	s.run("convert", stacks, "--to", "pprof", "-o", in("stacks.pb.gz"))
	s.run("summary", in("stacks.pb.gz"), "--format", "json")

	gateFile := write("gates.yaml", gates)
	for _, format := range []string{"text", "md", "json", "junit", "benchmark", "benchmark-bigger"} {
		s.run("check", trace, "--gates", gateFile, "--format", format, "-o", in("check"))
	}
	for chunk := range slices.Chunk(all, 24) {
		var reason []string
		for _, p := range chunk {
			reason = append(reason, p.text)
		}
		if status, _ := s.run("accept", filepath.Join("..", "..", "testdata", "gen", "comm_bound.json.gz"), "--baseline", in("base"), "--reason", strings.Join(reason, "\n")); status != exitOK {
			t.Errorf("accept: exit status %d", status)
		}
	}
	s.files(dir, trace, stacks, gateFile, in("run.log"))
}

// files looks at every file below a directory but the inputs.
func (s *search) files(dir string, inputs ...string) {
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains(inputs, path) {
			return err
		}
		text, err := os.ReadFile(path)
		n++
		if z, unpacked := gzip.NewReader(bytes.NewReader(text)); unpacked == nil && strings.HasSuffix(path, ".json.gz") {
			if text, unpacked = io.ReadAll(z); unpacked != nil {
				return unpacked
			}
		}
		s.in(filepath.Base(path), text)
		return err
	})
	if err != nil || n < 2 && inputs != nil {
		s.t.Errorf("%d files, %v", n, err)
	}
}

// TestMergedWithoutOrder: summaries of runs whose names differ in a secret merge to
// the same bytes in any order, saved before or not.
func TestMergedWithoutOrder(t *testing.T) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(1, 2))
	var saved []string
	for i := range 3 {
		path := filepath.Join(dir, fmt.Sprintf("%d.json", i))
		if err := os.WriteFile(path, plantedTrace(plants(rnd)[:40]), 0o666); err != nil {
			t.Fatal(err)
		}
		var out, talk bytes.Buffer
		if run(env{strings.NewReader(""), &out, &talk}, []string{"summary", path, "--format", "json"}) != exitOK {
			t.Fatal(talk.String())
		}
		if strings.Contains(out.String(), "-1]") {
			t.Error("a placeholder has a number")
		}
		saved = append(saved, filepath.Join(dir, fmt.Sprintf("saved%d.json", i)))
		if err := os.WriteFile(saved[i], out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	names := func(order ...int) string {
		args := []string{"convert", "--to", "folded"}
		for _, i := range order {
			args = append(args, strings.Replace(saved[i], "saved", "", 1))
		}
		var out, talk bytes.Buffer
		if run(env{strings.NewReader(""), &out, &talk}, args) != exitOK {
			t.Fatal(talk.String())
		}
		var folded []string
		for line := range strings.Lines(out.String()) {
			_, rest, _ := strings.Cut(line, ";") // the input
			folded = append(folded, rest)
		}
		slices.Sort(folded)
		return strings.Join(folded, "")
	}
	kernels := func(order ...int) string {
		args := []string{"summary", "--format", "json"}
		for _, i := range order {
			args = append(args, saved[i])
		}
		var out, talk bytes.Buffer
		if run(env{strings.NewReader(""), &out, &talk}, args) != exitOK {
			t.Fatal(talk.String())
		}
		var s struct {
			Kernels []struct {
				Name string `json:"name"`
				NS   int64  `json:"total_ns"`
			} `json:"kernels"`
			Issues []any `json:"issues"`
		}
		if err := json.Unmarshal(out.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		s.Issues = slices.DeleteFunc(s.Issues, func(is any) bool { return is.(map[string]any)["code"] != "secrets-masked" })
		for _, is := range s.Issues {
			delete(is.(map[string]any), "first") // of the first input
		}
		if len(s.Issues) != 1 {
			t.Errorf("issues of secrets: %v", s.Issues)
		}
		return fmt.Sprint(s)
	}
	for _, order := range [][]int{{1, 0, 2}, {2, 1, 0}, {1, 2, 0}} {
		if got, want := names(order...), names(0, 1, 2); got != want {
			t.Errorf("%v: other stacks than in the first order", order)
		}
		if got, want := kernels(order...), kernels(0, 1, 2); got != want {
			t.Errorf("%v: %s, want %s", order, got, want)
		}
	}
}

// writers are the functions that may write to a stream or file: they take results,
// which are made of masked values, or lines that they mask.
var writers = map[string]bool{
	"main": true, "output": true, "create": true, "file": true, "print": true, "say": true, "appendStepSummary": true, "setOutputs": true, "as": true,
	"inert": true, // a result of a result
}

// TestOneWayOut: nothing but the writers names a stream or makes a file, and only
// masked.as makes a result, and inert of another.
func TestOneWayOut(t *testing.T) {
	files := test.Files(t, "*.go")
	forbidden := map[string]bool{"os.Stdout": true, "os.Stderr": true, "os.Create": true, "os.WriteFile": true, "os.OpenFile": true, "fmt.Print": true, "fmt.Println": true, "fmt.Printf": true,
		"e.stdout": true, "e.stderr": true, "r.e.stdout": true, "result": true, "masked": true}
	allowed := map[string]string{"e.stderr": "run print exits open", "e.stdout": "check write run parse shown runMCP", "os.Stderr": "open"}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || writers[fn.Name.Name] || file == "secrets.go" {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				what := ""
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok {
						what = x.Name + "." + n.Sel.Name
					}
				case *ast.CompositeLit:
					what = strings.TrimSpace(fmt.Sprint(n.Type))
					if i, ok := n.Type.(*ast.IndexExpr); ok {
						what = fmt.Sprint(i.X)
					}
				}
				if forbidden[what] && !slices.Contains(strings.Fields(allowed[what]), fn.Name.Name) {
					t.Errorf("%s: %s uses %s; print or write a result", set.Position(n.Pos()), fn.Name.Name, what)
				}
				return true
			})
		}
	}
}
