package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"assay/internal/membudget"
	"assay/internal/test/nsysgen"
	"assay/internal/test/rankgen"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(cleaning{m}, map[string]func(){"assay": main, "interrupted": interrupted, "exhausted": exhausted})
}

// built is a directory that tests build the command in, "" if none has.
var built string

// A cleaning is all tests, after which what they share is removed.
type cleaning struct{ *testing.M }

// Run runs them.
func (c cleaning) Run() int {
	defer func() {
		if built != "" {
			os.RemoveAll(built)
		}
	}()
	return c.M.Run()
}

// TestScript runs the command as a user meets it. In the scripts $GEN holds
// the generated traces of testdata/gen.
func TestScript(t *testing.T) {
	data, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GEN", filepath.Join(data, "gen"))
			e.Setenv("DATA", data)
			return nil
		},
		// "permissions": the modes of files hold for the user who runs this. "ownmemory": the
		// race detector takes no memory besides.
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "permissions":
				return runtime.GOOS != "windows" && os.Geteuid() != 0, nil
			case "ownmemory":
				return !withRace(), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "pack": pack, "lines": lines, "hostile": hostileNames, "nsysgen": generateNsys, "action": actionStep,
			"secrets": writeSecrets, "hides": hidesSecrets, "ranks": generateRanks, "cut": cutFile, "unlisted": withoutRanks,
		},
	})
}

// withRace reports whether the tests run with the race detector, which takes much
// memory itself.
func withRace() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// generateNsys writes an export of Nsight Systems: "nsysgen KERNELS FILE".
func generateNsys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: nsysgen kernels file")
	}
	kernels, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(nsysgen.Write(ts.MkAbs(args[1]), nsysgen.Plan{Kernels: kernels, Calls: true, Ranges: 3}))
}

// generateRanks writes the traces of a generated run: "ranks SCENARIO DIR".
func generateRanks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: ranks scenario dir")
	}
	for _, s := range rankgen.Scenarios() {
		if s.Name == args[0] {
			j, given := s.Job()
			for _, f := range j.Files(given) {
				path := filepath.Join(ts.MkAbs(args[1]), f.Name)
				ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
				ts.Check(os.WriteFile(path, f.JSON, 0o666))
			}
			return
		}
	}
	ts.Fatalf("no scenario %s", args[0])
}

// cutFile leaves the first bytes of a file: "cut BYTES FILE".
func cutFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cut bytes file")
	}
	n, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[1]), n))
}

// withoutRanks writes a timeline without its list of ranks: "unlisted IN OUT".
func withoutRanks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unlisted in out")
	}
	text := ts.ReadFile(args[0])
	const list = "assayTimeline"
	if !strings.Contains(text, list) {
		ts.Fatalf("%s has no %s", args[0], list)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Replace(text, list, "other", 1)), 0o666))
}

// exits runs a command and checks its exact status: "exits 3 assay summary x".
// The built-in "! exec" only knows zero from non-zero.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits status command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// lines checks how many lines a stream of the last command had: "lines stderr 1".
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines stdout|stderr number")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); got != want {
		ts.Fatalf("%d lines in %s, want %d:\n%s", got, args[0], want, ts.ReadFile(args[0]))
	}
}

// pack writes a file in another packing: "pack plain|gz|gz2|zst|cut|tail|flip IN
// OUT", where IN is gzip. gz2 has two members, cut is broken off, tail has
// garbage behind its end, flip has a wrong bit in its checksum.
func pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: pack how in out")
	}
	f, err := os.Open(ts.MkAbs(args[1]))
	ts.Check(err)
	defer f.Close()
	plain, err := io.ReadAll(f)
	ts.Check(err)
	if z, err := gzip.NewReader(bytes.NewReader(plain)); err == nil {
		plain, err = io.ReadAll(z)
		ts.Check(err)
	}
	var out bytes.Buffer
	member := func(b []byte) {
		w := gzip.NewWriter(&out)
		w.Write(b)
		ts.Check(w.Close())
	}
	switch args[0] {
	case "plain":
		out.Write(plain)
	case "gz", "cut", "tail", "flip":
		member(plain)
	case "gz2":
		member(plain[:len(plain)/3])
		member(plain[len(plain)/3:])
	case "zst":
		w, err := zstd.NewWriter(&out)
		ts.Check(err)
		w.Write(plain)
		ts.Check(w.Close())
	default:
		ts.Fatalf("unknown packing %s", args[0])
	}
	switch args[0] {
	case "cut":
		out.Truncate(out.Len() / 2)
	case "tail":
		out.WriteString("\n<garbage>\n")
	case "flip":
		out.Bytes()[out.Len()-8] ^= 1
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), out.Bytes(), 0o644))
}

// hostileNames copies a file to names that steer terminals and forge lines, which a
// script cannot spell: "hostile IN DIR".
func hostileNames(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: hostile in dir")
	}
	content := ts.ReadFile(args[0])
	dir := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(dir, 0o777))
	for _, name := range []string{"a\x1b[2J\nassay summary: all is well.json", "b\u202etxt.json", "c\x9b31m\u0085.json", "d e.zip.json"} {
		ts.Check(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666))
	}
}

// interrupted writes the file that its first argument names and gets SIGTERM, or
// the signal that its second one names, in the middle.
func interrupted() {
	sig := syscall.SIGTERM
	if len(os.Args) > 2 && os.Args[2] == "INT" {
		sig = syscall.SIGINT
	}
	ends(os.Args[1], func() error {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return self.Signal(sig)
	})
}

// exhausted writes the file that its argument names, in a directory that it makes,
// and in the middle takes more memory than a command may that watches its memory.
func exhausted() {
	const limit = 1 << 20
	r := &reading{e: env{os.Stdin, os.Stdout, os.Stderr}, limits: limits{memory: limit}}
	r.limits.memory.Watch(r.outOfMemory)
	var held []byte
	ends(os.Args[1], func() error {
		held = bytes.Repeat([]byte("x"), 4*membudget.Least)
		return nil
	})
	runtime.KeepAlive(held)
}

// ends writes a file and calls a function in the middle that ends the process.
func ends(path string, end func() error) {
	w := newWriter()
	defer w.stop()
	dir, base := filepath.Split(path)
	err := w.dir(dir)
	if err == nil {
		err = w.file(path, result{encode: func(io.Writer) error {
			if list, err := filepath.Glob(filepath.Join(dir, "."+base+".*")); err != nil || len(list) != 1 {
				return fmt.Errorf("unfinished files: %q, %v; want one", list, err)
			}
			if err := end(); err != nil {
				return err
			}
			time.Sleep(time.Minute)
			return errors.New("still here")
		}})
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestWriteError checks that results which could not be written are not a
// success, which is what a full disk or a closed pipe looks like.
func TestWriteError(t *testing.T) {
	const in = `[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":0,"ts":0,"dur":1}]`
	for _, format := range []string{"text", "md", "json"} {
		var stderr bytes.Buffer
		got := run(env{strings.NewReader(in), failingWriter{}, &stderr}, []string{"summary", "--format", format})
		if got != exitTrouble || !strings.Contains(stderr.String(), "disk full") {
			t.Errorf("%s: exit status %d, %q; want %d and the reason", format, got, stderr.String(), exitTrouble)
		}
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }
