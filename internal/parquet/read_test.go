package parquet

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/internal/tabular"
	"assay/internal/test"
)

// made returns a file of testdata/parquet, which other programs wrote: see make.mjs there.
func made(t testing.TB, elem ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "testdata", "parquet"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func opened(b []byte) (*File, error) { return Open(bytes.NewReader(b), int64(len(b))) }

// cells returns all values of a file by column, as text; null is "null".
func cells(f *File) (out map[string][]string, err error) {
	out = make(map[string][]string)
	names, texts := f.Columns()
	err = f.Scan(names, func(r *Row) bool {
		for i, name := range names {
			text := string(r.Text(i))
			if !slices.Contains(texts, name) {
				text = strconv.FormatInt(r.Num(i), 10)
			}
			if r.Null(i) {
				text = "null"
			}
			out[name] = append(out[name], text)
		}
		return true
	})
	return out, err
}

// TestEncodings: every encoding of every type gives the values that another program wrote, in row groups of 110 rows and pages
// of few values.
func TestEncodings(t *testing.T) {
	var want map[string][]*string
	if err := json.Unmarshal(test.Unpacked(t, filepath.Join("..", "..", "testdata", "parquet", "encodings.json.gz")), &want); err != nil {
		t.Fatal(err)
	}
	f, err := opened(made(t, "encodings.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := cells(f)
	if err != nil || len(got) != len(want)-6 || len(got) < 45 {
		t.Fatalf("%d columns, want %d: %v", len(got), len(want), err)
	}
	for name, values := range want {
		if strings.HasPrefix(name, "DOUBLE") || strings.HasPrefix(name, "FLOAT") {
			if got[name] != nil {
				t.Errorf("%s was read", name) // types that no table needs
			}
			continue
		}
		for i, v := range values {
			text := "null"
			if v != nil {
				text = *v
			}
			switch {
			case strings.HasPrefix(name, "BOOLEAN"):
				text = strings.NewReplacer("true", "1", "false", "0").Replace(text)
			}
			if len(got[name]) != len(values) || got[name][i] != text {
				t.Fatalf("%s: value %d of %d is %q, want %q of %d", name, i, len(got[name]), got[name][min(i, len(got[name])-1)], text, len(values))
			}
		}
	}
}

// TestReadWritten: what the writer of this package writes is read, but for lists.
func TestReadWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(test.Seed(t), 3))
	for range 100 / test.Every(4) {
		columns, rows := randomTable(r)
		var b bytes.Buffer
		w, err := NewWriter(&b, columns)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if err := w.Row(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := opened(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got, err := cells(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range columns {
			if c.List || c.Type == tabular.Float {
				if got[c.Name] != nil {
					t.Fatalf("%s was read", c.Name)
				}
				continue
			}
			for k, row := range rows {
				cell, want := valid(c, row[i]), "null"
				switch {
				case !cell.Known && c.Optional:
				case c.Type == tabular.Int || c.Type == tabular.Bool:
					want = strconv.FormatInt(cell.Int, 10)
				default:
					want = cell.Text
				}
				if got[c.Name][k] != want {
					t.Fatalf("%+v: row %d is %q, want %q", c, k, got[c.Name][k], want)
				}
			}
		}
	}
}

// TestUnsigned: numbers of 32 bits are unsigned only where the column says so.
func TestUnsigned(t *testing.T) {
	for _, dir := range []string{"snappy_pqtdir", "zstd_pqtdir"} {
		f, err := opened(made(t, dir, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := cells(f)
		if want := []string{"7", "4294967295", "7", "7"}; err != nil || !slices.Equal(got["streamId"], want) {
			t.Errorf("%s: %v, %v, want %v", dir, got["streamId"], err, want)
		}
	}
	signed, unsigned := leaf{kind: typeInt32}, leaf{kind: typeInt32, unsigned: 32}
	if a, b := signed.integer(math.MaxUint32), unsigned.integer(math.MaxUint32); a != -1 || b != math.MaxUint32 {
		t.Errorf("%d and %d", a, b)
	}
}

// TestBroken: a file that is cut, or has one wrong byte, gives an error or rows; it takes little memory and no long time.
func TestBroken(t *testing.T) {
	r := rand.New(rand.NewPCG(test.Seed(t), 4))
	files := [][]byte{made(t, "encodings.parquet"), made(t, "zstd_pqtdir", "NVTX_EVENTS.parquet"),
		made(t, "snappy_pqtdir", "CUPTI_ACTIVITY_KIND_KERNEL.parquet"), made(t, "groups_pqtdir", "CUPTI_ACTIVITY_KIND_RUNTIME.parquet")}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	failed, n := 0, 600/test.Every(4)
	for i := range n {
		whole := files[i%len(files)]
		b := bytes.Clone(whole)
		at := r.IntN(len(b))
		if i%2 == 0 {
			at = len(b) - 1 - r.IntN(min(len(b), 2000)) // the footer
		}
		if b[at] ^= 1 << r.IntN(8); i%7 == 0 {
			b = whole[:r.IntN(len(whole))]
		}
		f, err := opened(b)
		if err == nil {
			_, err = cells(f)
		}
		if err != nil {
			failed++
			if text := err.Error(); strings.Contains(text, "\n") || len(text) > 200 {
				t.Errorf("the message is %q", text)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if failed < n/10 {
		t.Errorf("%d of %d broken files were refused", failed, n)
	}
	if per := (after.TotalAlloc - before.TotalAlloc) / uint64(n); per > 64<<20 {
		t.Errorf("a broken file takes %d MiB", per>>20)
	}
}

// hostile returns a file whose one column, of whole numbers, has one row group with the given page.
func hostile(rows, codec int64, stored []byte, values, unpacked int64) []byte {
	var h thrift
	h.begin()
	h.i32(1, pageData)
	h.i32(2, int32(unpacked))
	h.i32(3, int32(len(stored)))
	h.open(5)
	h.i32(1, int32(values))
	h.i32(2, encodingPlain)
	h.end()
	h.end()
	chunk := append(h.out, stored...)
	var t thrift
	t.begin()
	t.list(2, thriftStruct, 2)
	t.begin()
	t.text(4, "schema")
	t.i32(5, 1)
	t.end()
	t.begin()
	t.i32(1, typeInt64)
	t.i32(3, required)
	t.text(4, "start")
	t.end()
	t.i64(3, rows)
	t.list(4, thriftStruct, 1)
	t.begin()
	t.list(1, thriftStruct, 1)
	t.begin()
	t.open(3)
	t.i32(4, int32(codec))
	t.i64(5, rows)
	t.i64(7, int64(len(chunk)))
	t.i64(9, 4)
	t.end()
	t.end()
	t.i64(3, rows)
	t.end()
	t.end()
	b := append([]byte(magic), chunk...)
	b = append(b, t.out...)
	return append(append(b, byte(len(t.out)), byte(len(t.out)>>8), 0, 0), magic...)
}

// TestHostile: counts that no file can have are refused in one line, before memory is taken.
func TestHostile(t *testing.T) {
	words := make([]byte, 800)
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"all right":     {hostile(100, codecNone, words, 100, 800), ""},
		"rows":          {hostile(1<<40, codecNone, words, 1<<30, 800), "more rows than"},
		"fewer values":  {hostile(100, codecNone, words[8:], 100, 792), "fewer values"},
		"a page":        {hostile(100, codecZstd, words, 100, 1<<30), "over the limit"},
		"another size":  {hostile(100, codecNone, words, 100, 1000), "a page is damaged"},
		"another codec": {hostile(100, 4, words, 100, 1000), "Brotli"},
		"no snappy":     {hostile(100, codecSnappy, []byte{0xff, 0xff, 0xff, 0xff, 0x0f}, 100, 1000), "a page is damaged"},
		"encoding":      {made(t, "delta.parquet"), "encoding is DELTA_"},
		"encrypted":     {append(bytes.Repeat([]byte{0}, 20), "PARE"...), "encrypted"},
		"a text":        {[]byte("this is no table at all"), "no Parquet file"},
	} {
		f, err := opened(c.file)
		rows := 0
		if err == nil {
			err = f.Scan([]string{"start", "id", "value"}, func(*Row) bool { rows++; return true })
		}
		if c.want == "" && (err != nil || rows != 100) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %d rows, error %v, want %q", name, rows, err, c.want)
		}
	}
}

// TestMemory: pages that together take more than a scan may have are an error.
func TestMemory(t *testing.T) {
	f, err := opened(made(t, "snappy_pqtdir", "NVTX_EVENTS.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	f.Memory = 100
	if _, err = cells(f); err == nil || !strings.Contains(err.Error(), "--max-memory") {
		t.Errorf("error %v", err)
	}
}

// TestStop: a scan ends where it is told to.
func TestStop(t *testing.T) {
	f, err := opened(made(t, "encodings.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := f.Scan([]string{"int32_0_plain_0", "none", ""}, func(r *Row) bool {
		n++
		return n < 150 && r.Null(1) && r.Null(2) && !r.Null(0)
	}); err != nil || n != 150 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// FuzzOpen: any file gives an error, or the rows that it claims.
func FuzzOpen(f *testing.F) {
	for _, seed := range [][]string{{"snappy_pqtdir", "StringIds.parquet"}, {"zstd_pqtdir", "StringIds.parquet"},
		{"groups_pqtdir", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.parquet"}, {"snappy_pqtdir", "CUPTI_ACTIVITY_KIND_MEMCPY.parquet"},
		{"groups_pqtdir", "StringIds.parquet"}} {
		f.Add(made(f, seed...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := opened(b)
		if err != nil {
			return
		}
		want := int64(0)
		for _, g := range file.groups {
			want += g.rows
		}
		got := int64(0)
		names, _ := file.Columns()
		if err := file.Scan(names, func(r *Row) bool {
			got++
			for i := range r.cursors {
				r.Num(i)
				r.Text(i)
			}
			return true
		}); err == nil && got != want {
			t.Fatalf("%d rows, want %d", got, want)
		}
	})
}
