package pickle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"assay/internal/test"
)

// text prints a value as Python's repr does.
func text(d *Doc, v Value) string { return textDepth(d, v, 0) }

func textDepth(d *Doc, v Value, depth int) string {
	if depth > 20 {
		return "..."
	}
	list := func(open, end string) string {
		var parts []string
		for _, it := range d.Items(v) {
			parts = append(parts, textDepth(d, it, depth+1))
		}
		return open + strings.Join(parts, ", ") + end
	}
	switch d.Kind(v) {
	case None:
		return "None"
	case Bool:
		if b, _ := d.Bool(v); b {
			return "True"
		}
		return "False"
	case Int:
		n, _ := d.Int(v)
		return strconv.FormatInt(n, 10)
	case Float:
		x, _ := d.Float(v)
		return strconv.FormatFloat(x, 'g', -1, 64)
	case Text:
		s, _ := d.Text(v)
		return "'" + s + "'"
	case Bytes:
		return "bytes"
	case List:
		return list("[", "]")
	case Tuple:
		return list("(", ")")
	case Set:
		return list("set(", ")")
	}
	var parts []string
	for items := d.Items(v); len(items) > 0; items = items[2:] {
		parts = append(parts, textDepth(d, items[0], depth+1)+": "+textDepth(d, items[1], depth+1))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// TestProtocols reads one object that Python wrote in every protocol. What it
// holds was written down from the script that made it.
func TestProtocols(t *testing.T) {
	frames := `[{'name': 'forward', 'filename': '/w/model.py', 'line': 12}, {'name': '<module>', 'filename': 'train.py', 'line': 3}]`
	for p := range 6 {
		name := fmt.Sprintf("constructed_proto%d.pickle", p)
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if !Sniff(b) {
			t.Errorf("%s is not taken for a pickle", name)
		}
		d, err := Read(bytes.NewReader(b), name, Limits{})
		if err != nil || !d.Complete {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := text(d, d.Root)
		for _, want := range []string{
			`'total_size': 2097152`, `'segment_pool_id': (0, 0)`, `'is_expandable': False`, `'expandable_segments': True`,
			`'garbage_collection_threshold': 0`, `'max_split_size': -1`, `'address': 139637976728576`, `'device_free': 17179869184`,
			`'time_us': 1700000000000010`, `'frames': ` + frames, `'frames': []`, `'user_metadata': 'step 1'`, `'size': 85899345920`,
			`'external_annotations': [{'stage': 'START', 'name': 'ProfilerStep#1', 'device': 0, 'time_us': 1700000000000001}]`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s:\n%s", name, want, got)
			}
		}
		if n := strings.Count(got, frames); n != 5 {
			t.Errorf("%s has the shared frames %d times, want 5", name, n)
		}
	}
}

func TestValues(t *testing.T) {
	for in, want := range map[string]string{
		"N.": "None", "I00\n.": "False", "I01\n.": "True", "I-5\n.": "-5", "L12L\n.": "12", "F1.5\n.": "1.5",
		"L99999999999999999999999L\n.": "9223372036854775807", "L-99999999999999999999999L\n.": "-9223372036854775808",
		"J\xff\xff\xff\xff.": "-1", "M\x01\x02.": "513", "K\xff.": "255", "G\x3f\xf8\x00\x00\x00\x00\x00\x00.": "1.5",
		"\x80\x02\x8a\x00.": "0", "\x8a\x01\xff.": "-1", "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80.": "-9223372036854775808",
		"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.":     "9223372036854775807",
		"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.": "9223372036854775807", // 2^64-1, brought to the end of int64
		"\x8a\x09\x05\x00\x00\x00\x00\x00\x00\x00\x00.": "5",
		"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\xff.": "-9223372036854775808",
		"\x8a\x09\xfe\xff\xff\xff\xff\xff\xff\xff\xff.": "-2",
		"\x8b\x0a\x00\x00\x00aaaaaaaaa\x01.":            "9223372036854775807",
		`S'a\n\x41\'\q'` + "\n.":                        "'a\nA'\\q'", `V\u00e9\U0001f600` + "\xe9\n.": "'é😀é'",
		"U\x03abc.": "'abc'", "T\x03\x00\x00\x00abc.": "'abc'", "X\x03\x00\x00\x00abc.": "'abc'",
		"\x8c\x03abc.": "'abc'", "\x8d\x03\x00\x00\x00\x00\x00\x00\x00abc.": "'abc'", "C\x03abc.": "bytes", "B\x03\x00\x00\x00abc.": "bytes",
		"\x8e\x03\x00\x00\x00\x00\x00\x00\x00abc.": "bytes", "\x96\x03\x00\x00\x00\x00\x00\x00\x00abc.": "bytes",
		"(lp0\nI1\naI2\na.": "[1, 2]", "(dp0\nI1\nI2\ns.": "{1: 2}", "(I1\nI2\nt.": "(1, 2)", "(I1\nI2\nl.": "[1, 2]", "(I1\nI2\nd.": "{1: 2}",
		"()K\x01\x85K\x02K\x03\x86K\x04K\x05K\x06\x87t.": "((), (1), (2, 3), (4, 5, 6))",
		"\x8f(K\x01K\x02\x90.":                           "set(1, 2)", "(K\x01\x91.": "set(1)",
		"K\x01K\x020.": "1", "K\x01(K\x02K\x031.": "1", "K\x012\x86.": "(1, 1)", "K\x01(0.": "1",
		"](K\x01K\x02e(K\x03e.": "[1, 2, 3]", "]q\x05h\x05a.": "[[[[[[[[[[[[[[[[[[[[[...]]]]]]]]]]]]]]]]]]]]]",
		"]r\x00\x00\x00\x70K\x01aj\x00\x00\x00\x70\x86.": "([1], [1])", "K\x07p70000\n0g70000\n.": "7",
		"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s.": "{'a': 1}",
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "by bytes": iotest.OneByteReader(strings.NewReader(in))} {
			d, err := Read(r, "x", Limits{})
			if err != nil || !d.Complete {
				t.Errorf("%q, %s: %v", in, name, err)
			} else if got := text(d, d.Root); got != want {
				t.Errorf("%q, %s: got %s, want %s", in, name, got, want)
			}
		}
	}
}

// TestRefusals: what calls or looks up anything is refused with its name, and
// what is broken with its place.
func TestRefusals(t *testing.T) {
	for in, want := range map[string]string{
		"cos\nsystem\n(S'ls'\ntR.":              `x@0: not a pickle that can be read: it is more than plain data: its instruction GLOBAL asks for "os.system"`,
		"\x80\x04\x8c\x02os\x8c\x06system\x93.": `x@14: not a pickle that can be read: it is more than plain data: its instruction STACK_GLOBAL asks for "os.system"`,
		"(S'ls'\nios\nsystem\n.":                `INST asks for "os.system"`,
		"Ptoken\n.":                             `PERSID asks for "token"`,
		"Q.":                                    "BINPERSID",
		"NN\x81.":                               "NEWOBJ asks for an object of some class",
		"NNN\x92.":                              "NEWOBJ_EX",
		"NNb.":                                  "BUILD",
		"NNR.":                                  "REDUCE",
		"(No.":                                  "OBJ",
		"\x82\x01.":                             "EXT1",
		"\x83\x01\x00.":                         "EXT2",
		"\x84\x01\x00\x00\x00.":                 "EXT4",
		"\x97.":                                 "NEXT_BUFFER",
		"N\x98.":                                "READONLY_BUFFER",
		"\x80\x06N.":                            "protocol 6, want at most 5",
		"\x80\x04\xff.":                         "x@2: not a pickle that can be read: 0xff is no instruction",
		".":                                     "more values than there are",
		"K\x01(.":                               "more values than there are",
		"a.":                                    "more values",
		"e.":                                    "a mark, and there is none",
		"1.":                                    "a mark",
		"h\x07.":                                "entry 7 of the memo",
		"K\x01K\x02a.":                          "items are put into an int, want a list",
		"}K\x01a.":                              "items are put into a dict, want a list",
		"}(K\x01u.":                             "a key without a value",
		"(K\x01d.":                              "a key without a value",
		"(e.":                                   "more values",
		"\x8b\xff\xff\xff\xff.":                 "LONG4 is -1",
		"Ix\n.":                                 "a number cannot be read",
		"Fx\n.":                                 "a number cannot be read",
		"gx\n.":                                 "number of the memo",
		"Sx\n.":                                 "no quotes",
		"c\x1b[2J\nx\n.":                        `"\x1b[2J.x"`,
		"\x8c\x02os(\x8c\x06system\x85\x930" + "\x93": "STACK_GLOBAL",
	} {
		d, err := Read(strings.NewReader(in), "x", Limits{})
		damage := (*DamageError)(nil)
		if err == nil || d != nil && !errors.As(err, &damage) || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}

// TestTruncated cuts a pickle everywhere: what was built is there, and is what
// the whole has from its beginning on.
func TestTruncated(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "constructed_proto4.pickle"))
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for n := 1; n < len(b); n++ {
		d, err := Read(bytes.NewReader(b[:n]), "x", Limits{})
		if err != nil || d.Complete {
			t.Fatalf("cut at %d: %v", n, err)
		}
		segments, ok := d.Lookup(d.Root, "segments")
		if k := len(d.Items(segments)); ok && k < most {
			t.Fatalf("cut at %d: %d segments, and %d when less was there", n, k, most)
		} else {
			most = max(most, k)
		}
	}
	if most != 1 {
		t.Errorf("the only segment was never found")
	}
	broken := errors.New("broken")
	d, err := Read(io.MultiReader(bytes.NewReader(b[:len(b)/2]), iotest.ErrReader(broken)), "x", Limits{})
	if !errors.Is(err, broken) || d == nil || d.Complete || d.Kind(d.Root) != Dict {
		t.Errorf("a broken reader: %v", err)
	}
}

// TestHostile: lengths that nothing follows, nesting without end, and memos that
// double what they hold cost no more memory than the limit says.
func TestHostile(t *testing.T) {
	huge := "\xff\xff\xff\xff\xff\xff\xff\x7f"
	many := func(s string) io.Reader { return &repeated{s: s, n: 64 << 20} }
	for name, tt := range map[string]struct {
		in   io.Reader
		full bool // it reaches the limit
	}{
		"a text of exabytes":     {strings.NewReader("\x8d" + huge + "abc"), false},
		"bytes of exabytes":      {strings.NewReader("\x8e" + huge + "abc"), false},
		"a long of gigabytes":    {strings.NewReader("\x8b\xff\xff\xff\x7fabc"), false},
		"a frame of exabytes":    {strings.NewReader("\x80\x04\x95" + huge + "N."), false},
		"a text without end":     {io.MultiReader(strings.NewReader("\x8d"+huge), many("a")), true},
		"lists in lists":         {many("]"), true},
		"marks":                  {many("("), true},
		"tuples in tuples":       {io.MultiReader(strings.NewReader(")"), many("\x85")), true},
		"duplicates":             {io.MultiReader(strings.NewReader("]"), many("2")), true},
		"a memo of far numbers":  {sparse(1 << 20), true},
		"a list that holds much": {io.MultiReader(strings.NewReader("]("), many("K\x01")), true},
		"distinct texts":         {texts(1 << 20), true},
	} {
		const limit = 16 << 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := Read(tt.in, "x", Limits{Memory: limit})
		runtime.ReadMemStats(&after)
		reached := (*LimitError)(nil)
		if errors.As(err, &reached) != tt.full || tt.full && d == nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 8*limit {
			t.Errorf("%s: allocated %d MiB, over %d MiB", name, n>>20, 8*limit>>20)
		}
	}
}

// A repeated gives one text n times.
type repeated struct {
	s string
	n int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n+len(r.s) <= len(p) && r.n > 0 {
		n += copy(p[n:], r.s)
		r.n--
	}
	if r.n == 0 {
		err = io.EOF
	}
	return n, err
}

func sparse(n int) io.Reader {
	var b bytes.Buffer
	b.WriteString("]")
	for i := range n {
		b.Write([]byte{'r', byte(i), byte(i >> 8), byte(i >> 16), 0xf0})
	}
	return &b
}

func texts(n int) io.Reader {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "\x8c\x08%08x", i)
	}
	return &b
}

func TestSniff(t *testing.T) {
	for in, want := range map[string]bool{
		"\x80\x02}q\x00": true, "\x80\x05\x95": true, "\x80\x06": false, "\x80": false, "": false,
		"(dp0\n": true, "(lp12\n": true, "(dp\n": false, "(default)\n": false, "(list of things)": false, "(d": false,
		"}q\x00(": true, "]q\x00(": true, "}\n": false, "[{": false, "]q": false,
	} {
		if Sniff([]byte(in)) != want {
			t.Errorf("Sniff(%q) is %v", in, !want)
		}
	}
}

// FuzzRead checks the contract of the reader for any input: it returns, without a
// panic and within its limit, and its result can be walked.
func FuzzRead(f *testing.F) {
	for _, file := range test.Files(f, filepath.Join("testdata", "*.pickle")) {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("]q\x05h\x05a."))
	f.Add([]byte("(dp0\nS'a'\n(lp1\nI1\nas."))
	f.Add([]byte("\x80\x04\x8c\x02os\x8c\x06system\x93."))
	f.Add([]byte("\x8b\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, in []byte) {
		d, err := Read(bytes.NewReader(in), "x", Limits{Memory: 4 << 20})
		if d == nil {
			if err == nil || err.Error() == "" {
				t.Fatal("neither a doc nor a reason")
			}
			return
		}
		if d.Complete && bytes.IndexByte(in, opStop) < 0 {
			t.Fatal("complete without an end")
		}
		seen := 0
		walk(d, d.Root, 0, &seen)
	})
}

func walk(d *Doc, v Value, depth int, seen *int) {
	if *seen++; depth > 50 || *seen > 10000 {
		return
	}
	if _, ok := d.Int(v); ok != (d.Kind(v) == Int) {
		panic("an int that is none")
	}
	for _, it := range d.Items(v) {
		walk(d, it, depth+1, seen)
	}
}

// TestSharedItems: lists that are equal share their items, and each may still grow without the
// other.
func TestSharedItems(t *testing.T) {
	const four = "](K\x01K\x02K\x03K\x04e"
	for _, c := range []struct {
		rest, want string
		same       bool
	}{
		{"", "[[1, 2, 3, 4], [1, 2, 3, 4]]", true},
		{"h\x00K\x05a0", "[[1, 2, 3, 4, 5], [1, 2, 3, 4]]", false},
		{"h\x01K\x06a0", "[[1, 2, 3, 4], [1, 2, 3, 4, 6]]", false},
		{"h\x00K\x05a0h\x01K\x06a0", "[[1, 2, 3, 4, 5], [1, 2, 3, 4, 6]]", false},
		{"h\x01(K\x06K\x07e0h\x00K\x05a0", "[[1, 2, 3, 4, 5], [1, 2, 3, 4, 6, 7]]", false},
		{"h\x00K\x05a0h\x01K\x05a0", "[[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]", false},
	} {
		in := four + "q\x00" + four + "q\x010" + "0" + c.rest + "](h\x00h\x01e."
		d, err := Read(strings.NewReader(in), "x", Limits{})
		if err != nil || !d.Complete {
			t.Fatalf("%q: %v", in, err)
		}
		if got := text(d, d.Root); got != c.want {
			t.Errorf("%q: %s, want %s", in, got, c.want)
		}
		a, b := d.Items(d.Root)[0], d.Items(d.Root)[1]
		if same := d.First(a) == d.First(b); same != c.same || d.ID(a) == d.ID(b) {
			t.Errorf("%q: the lists have the same items: %t, want %t", in, same, c.same)
		}
	}
}
