package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"assay/trace"
)

const plain = `{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2}],"distributedInfo":{"rank":3}}`

func gz(t *testing.T, parts ...string) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		w := gzip.NewWriter(&b)
		io.WriteString(w, p)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func zst(t *testing.T, s string) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll([]byte(s), nil)
}

func utf16le(s string) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// TestPackings: the same trace comes out of every packing, from a file and from
// a pipe, with the size and the hash of what is stored.
func TestPackings(t *testing.T) {
	for name, tt := range map[string]struct {
		stored      []byte
		compression string
	}{
		"plain":       {[]byte(plain), "none"},
		"gzip":        {gz(t, plain), "gzip"},
		"two members": {gz(t, plain[:20], plain[20:]), "gzip"},
		"gzip twice":  {gz(t, string(gz(t, plain))), "gzip"},
		"zstd":        {zst(t, plain), "zstd"},
		"utf16":       {utf16le(plain), "none"},
		"mark":        {[]byte("\ufeff" + plain), "none"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "trace.bin")
			if err := os.WriteFile(path, tt.stored, 0o644); err != nil {
				t.Fatal(err)
			}
			for _, from := range []string{path, Stdin} {
				f, err := Open(from, bytes.NewReader(tt.stored))
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				in, err := Load(f, trace.SelectAll())
				if err != nil {
					t.Fatal(err)
				}
				sum := sha256.Sum256(tt.stored)
				if in.Trace.Activities.Len() != 1 || len(in.Trace.Issues) != 0 || !in.Trace.Complete {
					t.Errorf("%s: %d activities, issues %v", from, in.Trace.Activities.Len(), in.Trace.Issues)
				}
				if in.Compression != tt.compression || in.Format != "kineto" || in.Rank != 3 || in.RankFrom != "trace" ||
					in.Bytes != int64(len(tt.stored)) || in.SHA256 != hex.EncodeToString(sum[:]) {
					t.Errorf("%s: %+v", from, in)
				}
			}
		})
	}
}

// TestDamage checks that all readable data is read, and that missing data has an
// issue.
func TestDamage(t *testing.T) {
	var events strings.Builder
	rnd := rand.New(rand.NewPCG(1, 2)) // so that it does not compress to nothing
	for range 100000 {
		fmt.Fprintf(&events, `{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":2},`, rnd.Int64N(1<<40))
	}
	many := "[" + events.String() + "{}]"
	for name, tt := range map[string]struct {
		stored []byte
		code   string
		whole  bool
	}{
		"gzip cut":     {gz(t, many)[:600000], "input-truncated", false},
		"zstd cut":     {zst(t, many)[:600000], "input-truncated", false},
		"gzip garbage": {append(gz(t, many), "<garbage>"...), "trailing-data", true},
	} {
		f, err := Open(Stdin, bytes.NewReader(tt.stored))
		if err != nil {
			t.Fatal(err)
		}
		in, err := Load(f, trace.SelectAll())
		f.Close()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n := in.Trace.Activities.Len()
		if len(in.Trace.Issues) != 1 || in.Trace.Issues[0].Code != tt.code || in.Trace.Complete != tt.whole || (n == 100000) != tt.whole || n == 0 {
			t.Errorf("%s: %d activities, complete %v, issues %+v", name, n, in.Trace.Complete, in.Trace.Issues)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Setenv("PATH", "") // nsys and ncu would read their reports
	for name, tt := range map[string]struct{ head, want string }{
		"empty.json":   {"", "is empty"},
		"blank.json":   {" \n\t", "is empty"},
		"nul.json":     {"\x00\x00\x00", "consists of 3 bytes of zeros"},
		"x.png":        {"\x89PNG\r\n\x1a\n", "PNG"},
		"x.json":       {"\n<!DOCTYPE html>", "web page"},
		"x.zip":        {"PK\x03\x04", "unzip x.zip"},
		"x.pickle":     {"\x80\x04\x95", "is a Python pickle that contains nothing"},
		"model.pt":     {"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n.", `its instruction GLOBAL asks for "torch._utils._rebuild_tensor_v2"`},
		"nccl.pickle":  {"\x80\x04}(\x8c\x07entries]\x8c\x07version\x8c\x032.5u.", "flight recorder"},
		"list.pickle":  {"\x80\x04](K\x01K\x02e.", "a list of 2 items, not a memory snapshot"},
		"memory.html":  {"<html><head><meta charset=\"utf-8\" /></head><body>\n<img src='data:image/png;base64,iVBO", "memory.raw.json.gz"},
		"snap.html":    {"<script type=\"module\">\nimport {add_local_files} from \"https://cdn/MemoryViz.js\"", "give the pickle"},
		"a.nsys-rep":   {"QDSTRM\x00", "Nsight Systems"},
		"a.ncu-rep":    {"NVR\x00", "Nsight Compute"},
		"x.xz":         {"\xfd7zXZ\x00", "xz -dc x.xz"},
		"a.xplane.pb":  {"\x0a\x90\x00", "protobuf"},
		"a.bin":        {"\x0a\x90\x00", "protobuf"},
		"x.log":        {"step 1", "text and has no trace and no profiler table"},
		"numbers.json": {"[1,2]", "text and has no trace and no profiler table"},
		"lfs.json":     {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(tt.head), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Load(f, trace.SelectAll())
		f.Close()
		var r *Refusal
		if !errors.As(err, &r) || !strings.Contains(strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", ""), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want a refusal with %q", name, err, tt.want)
		}
	}
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"b.json": plain, "a.json": plain, "sub/c.json": plain, ".hidden/d.json": plain, ".d.json": plain,
		"notes.txt": "x", "et.json": `{"schema":"1","nodes":[]}`, "config.json": `{"a":1}`, "[odd].json": plain, "list.json": "[1]",
		"my_trace.json": `{"metadata":"` + strings.Repeat("x", sniffLen) + `"}`,
		"of1000.json":   `{"schemaVersion":1,"distributedInfo":{"rank":3,"pg_config":[{"ranks":[` + strings.Repeat("0,", sniffLen) + `0]}]},"traceEvents":[]}`,
		// Named like traces: reading them must say what is wrong with them.
		"rank1.json": "", "rank2.json.gz": "\x1f\x8b", "rank3.json.zst": "garbage", "rank4.json": "version https://git-lfs.github.com/spec/v1\n",
	} {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "a.json"), filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(dir, n))
		}
		return out
	}
	all := in("[odd].json", "a.json", "b.json", "my_trace.json", "of1000.json", "rank1.json", "rank2.json.gz", "rank3.json.zst", "rank4.json", "sub/c.json")
	through := filepath.Join(t.TempDir(), "latest")
	if err := os.Symlink(dir, through); err != nil {
		t.Fatal(err)
	}
	collectives := through + "/../" + filepath.Base(dir) + "/a.json"
	var linked []string
	for _, path := range all {
		linked = append(linked, through+strings.TrimPrefix(path, dir))
	}
	for _, tt := range []struct {
		args          []string
		want          []string
		others, links int
	}{
		{in("a.json", "a.json", "b.json"), in("a.json", "b.json"), 0, 0},
		{[]string{dir + "/a.json", dir + "/./a.json", dir + "//sub/../a.json"}, in("a.json"), 0, 0},
		// Not the neighbor of the link, but the neighbor of its directory.
		{[]string{collectives}, []string{collectives}, 0, 0},
		{in("[odd].json"), in("[odd].json"), 0, 0}, // a name before a pattern
		{in("?.json"), in("a.json", "b.json"), 0, 0},
		{in("su*"), in("sub/c.json"), 0, 0},            // a pattern that matches a directory
		{in("*/[cd].json"), in("sub/c.json"), 0, 0},    // hidden directories match no pattern
		{in(".h*/d.json"), in(".hidden/d.json"), 0, 0}, // but one that asks for them
		{in(".d.json"), in(".d.json"), 0, 0},
		{[]string{Stdin, Stdin}, []string{Stdin}, 0, 0},
		{[]string{dir}, all, 4, 1},
		{[]string{dir + "/"}, all, 4, 1},
		{[]string{through}, linked, 4, 1},
	} {
		got := Paths(tt.args)
		if len(got.Failed) > 0 || !slices.Equal(got.Files, tt.want) || got.Others != tt.others || got.Links != tt.links {
			t.Errorf("Paths(%q) = %+v; want %q, %d, %d", tt.args, got, tt.want, tt.others, tt.links)
		}
	}
	for _, bad := range []string{filepath.Join(dir, "none*.json"), filepath.Join(dir, ".hidden", "none")} {
		got := Paths([]string{bad, filepath.Join(dir, "a.json")})
		if len(got.Failed) != 1 || !strings.HasPrefix(got.Failed[0].Error(), bad+": ") || !slices.Equal(got.Files, in("a.json")) {
			t.Errorf("Paths(%q) = %+v, want one failure and the other file", bad, got)
		}
	}
	if got := Paths([]string{""}); len(got.Failed) != 1 || len(got.Files) != 0 {
		t.Errorf("an empty name: %+v", got)
	}
}

// TestDash: a file of that name is reachable, and is not standard input.
func TestDash(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("-", []byte(plain), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := Paths([]string{"./-", Stdin}); !slices.Equal(got.Files, []string{"./-", Stdin}) {
		t.Errorf("%+v", got)
	}
}

// TestUnreadable: a directory that cannot be looked into costs no other trace.
func TestUnreadable(t *testing.T) {
	var c Choice
	denied := &fs.PathError{Op: "open", Path: "real/sub", Err: fs.ErrPermission}
	if err := c.visit("run/sub", false, nil, denied); err != nil {
		t.Errorf("the walk ends: %v", err)
	}
	if len(c.Failed) != 1 || c.Failed[0].Error() != "run/sub: permission denied" {
		t.Errorf("%+v", c)
	}

	dir := t.TempDir()
	locked := filepath.Join(dir, "locked")
	if err := errors.Join(os.Mkdir(locked, 0o000), os.WriteFile(filepath.Join(dir, "z.json"), []byte(plain), 0o644)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(locked, 0o700)
	if _, err := os.ReadDir(locked); err == nil {
		t.Skip("this user may read every directory")
	}
	got := Paths([]string{dir})
	if len(got.Failed) != 1 || got.Failed[0].Error() != locked+": permission denied" || !slices.Equal(got.Files, []string{filepath.Join(dir, "z.json")}) {
		t.Errorf("%+v", got)
	}
}

func TestRankOf(t *testing.T) {
	for said, want := range map[int]int{0: 0, 5: 5, 1 << 24: 1 << 24} {
		got, from := rankOf(&trace.Trace{Meta: trace.Meta{Rank: &said}}, "rank3.json")
		if got != want || (from == "trace") != (want == said) {
			t.Errorf("rank %d in the trace: %d from %s, want %d", said, got, from, want)
		}
	}
	for path, want := range map[string]int{
		"rank3_trace.json": 3, "rank-34.Jul_15.pt.trace.json.gz": 34, "dp0_pp0_tp0_rank12.17.pt.trace.json.gz": 12, "d/rank_0.json": 0, "rank[7].json": 7, "rank5/rank2.json": 2,
		"1757059120.5340526-TP-3.trace.json.gz": 3, "1757059120.5-TP-11-EXTEND.trace.json.gz": 11, "worker3.1712000000.pt.trace.json": 3, "gpu_worker_12_trace.json": 12,
	} {
		if got, from := rankOf(&trace.Trace{}, path); got != want || from != "name" {
			t.Errorf("rankOf(%q) = %d from %s, want %d", path, got, from, want)
		}
	}
	for path, want := range map[string]int{"rank3/trace.json.gz": 3, "run/worker-4/traces/a.json": 4, "rank1/rank2/t.json": 2, "/x/node0_rank12/t.json": 12} {
		if got, from := rankOf(&trace.Trace{}, path); got != want || from != "folder" {
			t.Errorf("rankOf(%q) = %d from %s, want %d", path, got, from, want)
		}
	}
	comm := 6
	for path, want := range map[string]struct {
		rank int
		from string
	}{"report1.sqlite": {6, "nccl"}, "report_rank2.sqlite": {2, "name"}, "rank3/report.sqlite": {3, "folder"}} {
		if got, from := rankOf(&trace.Trace{Meta: trace.Meta{CommRank: &comm}}, path); got != want.rank || from != want.from {
			t.Errorf("rankOf(%q) with rank 6 in a communicator = %d from %s, want %d from %s", path, got, from, want.rank, want.from)
		}
	}
	for _, path := range []string{"trace.json", "frank3.json", "prank1x.json", "rank.json", "crank3/t.json", "rank3x/t.json", "coworker7.json", "host_12345.17.pt.trace.json", "HTTP-4.json"} {
		if got, from := rankOf(&trace.Trace{}, path); got != 0 || from != "assumed" {
			t.Errorf("rankOf(%q) = %d from %s, want none", path, got, from)
		}
	}
}
