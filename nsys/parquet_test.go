package nsys

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/trace"
)

// madeDirs are exports that other programs wrote of one database: see make.mjs in their folder.
var madeDirs = []string{"snappy_pqtdir", "zstd_pqtdir", "groups_pqtdir"}

func madeOf(name string) string { return filepath.Join("..", "testdata", "parquet", name) }

// database writes the database that the exports were made of.
func madeDatabase(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "nsys.sqlite")
	if err := os.WriteFile(path, test.Unpacked(t, madeOf("nsys.sqlite.gz")), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestParquet: tables in Parquet give every row and issue that the database gives, and the same texts.
func TestParquet(t *testing.T) {
	path := madeDatabase(t)
	want, err := ReadSQLite(path, "run", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	var texts bytes.Buffer
	if _, err := WriteTexts(path, &texts); err != nil {
		t.Fatal(err)
	}
	for _, dir := range madeDirs {
		got, err := ReadParquet(madeOf(dir), "run", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		a, b := contents(want), contents(got)
		if !slices.Equal(a, b) || len(a) < 400 {
			t.Errorf("%s: %d rows, the database has %d, or some differ", dir, len(b), len(a))
		}
		if got.Meta.Recorder["EXPORT_PRODUCT_VERSION"] != "2026.2.1" || *got.Meta.BaseTime != *want.Meta.BaseTime || got.Meta.Devices[0] != want.Meta.Devices[0] {
			t.Errorf("%s: %+v, want %+v", dir, got.Meta, want.Meta)
		}
		var same bytes.Buffer
		if left := WriteParquetTexts(madeOf(dir), &same); left != "" || same.String() != texts.String() || same.Len() < 1000 {
			t.Errorf("%s: %d bytes of text, the database has %d; left: %s", dir, same.Len(), texts.Len(), left)
		}
	}
}

// copied copies an export.
func copied(t *testing.T, name string) (dir string) {
	dir = filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(madeOf(name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// change replaces the content of a table.
func change(t *testing.T, dir, table string, to func([]byte) []byte) {
	path := filepath.Join(dir, table+parquetExt)
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, to(b), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestParquetDamage: a table that is cut or damaged is an issue, and the others are read; a damaged table that nothing
// depends on is none.
func TestParquetDamage(t *testing.T) {
	half := func(b []byte) []byte { return b[:len(b)/2] }
	for _, c := range []struct {
		name, table string
		to          func([]byte) []byte
		want        string // issues
		kernels     int
	}{
		{"cut", "CUPTI_ACTIVITY_KIND_KERNEL", half, "device-table-damaged CUPTI_ACTIVITY_KIND_KERNEL[0]", 0},
		{"empty", "NVTX_EVENTS", func([]byte) []byte { return nil }, "export-damaged NVTX_EVENTS[0]", 96},
		{"settings", "TARGET_INFO_GPU", half, "export-damaged TARGET_INFO_GPU[0]", 96},
		{"no table", "CUPTI_ACTIVITY_KIND_MEMCPY", func([]byte) []byte { return []byte("copied by mistake") }, "device-table-damaged CUPTI_ACTIVITY_KIND_MEMCPY[0]", 96},
		// Zeros in the description of the columns; it takes more than half of the file.
		{"zeros", "CUPTI_ACTIVITY_KIND_KERNEL", func(b []byte) []byte {
			clear(b[len(b)/2 : len(b)*3/4])
			return b
		}, "device-table-damaged CUPTI_ACTIVITY_KIND_KERNEL[0]", 0},
		// Of three row groups of 40 rows the pages of the third are lost.
		{"a row group", "CUPTI_ACTIVITY_KIND_KERNEL", func(b []byte) []byte {
			const third = 5511 // as the offset index of the file says
			clear(b[third : third+10])
			return b
		}, "device-table-damaged CUPTI_ACTIVITY_KIND_KERNEL[80]", 80},
		{"not read", "CUPTI_ACTIVITY_KIND_OTHER", nil, "", 96},
	} {
		dir := copied(t, "groups_pqtdir")
		if c.to != nil {
			change(t, dir, c.table, c.to)
		} else if err := os.WriteFile(filepath.Join(dir, c.table+parquetExt), []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
		tr, err := ReadParquet(dir, "run", trace.SelectAll())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var issues []string
		for _, is := range tr.Issues {
			if strings.HasSuffix(is.Code, "-damaged") {
				issues = append(issues, is.Code+" "+is.First.Path)
			}
		}
		kernels := 0
		for a := range tr.Activities.All() {
			if a.Kind == trace.Kernel {
				kernels++
			}
		}
		if got := strings.Join(issues, ", "); got != c.want || kernels != c.kernels {
			t.Errorf("%s: %d kernels and issues %q, want %d and %q", c.name, kernels, got, c.kernels, c.want)
		}
	}
}

// TestParquetRefused: without any table that can be read the error says why, in one line.
func TestParquetRefused(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"StringIds", "NVTX_EVENTS"} {
		if err := os.WriteFile(filepath.Join(dir, name+parquetExt), []byte("PAR1 and then nothing"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := ReadParquet(dir, "run_pqtdir", trace.SelectAll())
	const want = "run_pqtdir: no table of the export can be read (NVTX_EVENTS.parquet: its end is missing); copy it again, or export again: nsys export --type parquetdir"
	if tr != nil || err == nil || err.Error() != want {
		t.Errorf("%v, %v, want %s", tr, err, want)
	}
}

// FuzzParquet: any table of kernels gives an error or a trace.
func FuzzParquet(f *testing.F) {
	for _, dir := range madeDirs {
		b, err := os.ReadFile(filepath.Join(madeOf(dir), "CUPTI_ACTIVITY_KIND_MEMCPY"+parquetExt))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	sel := trace.SelectAll()
	sel.Limits = trace.LimitsOf(64 << 20)
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "CUPTI_ACTIVITY_KIND_MEMCPY"+parquetExt), b, 0o666); err != nil {
			t.Fatal(err)
		}
		tr, err := ReadParquet(dir, "run", sel)
		if (tr == nil) == (err == nil) {
			t.Fatal(tr, err)
		}
		if tr == nil {
			return
		}
		for a := range tr.Activities.All() {
			if a.Dur < 0 || int(a.Track) >= len(tr.Tracks) {
				t.Fatalf("%+v", a)
			}
		}
	})
}
