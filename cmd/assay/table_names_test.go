package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kernelsNamed writes a trace with a kernel of each name and returns its path.
func kernelsNamed(t *testing.T, names ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`[`)
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":7,"ts":%d,"dur":2}`, name, 10+5*i)
	}
	b.WriteString(`]`)
	path := filepath.Join(t.TempDir(), "names.json")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// kernelTable returns the table of kernels in a format.
func kernelTable(t *testing.T, path, format string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"summary", path, "--table", "cuda_gpu_kern_sum", "-f", format}); status != exitOK {
		t.Fatalf("exit status %d, %s", status, stderr.String())
	}
	return stdout.String()
}

// TestTableOfLongName: one long name does not make the other rows longer, and names that
// are cut stay different. CSV has the whole names.
func TestTableOfLongName(t *testing.T) {
	long := strings.Repeat("a", 40_000)
	names := []string{long + "1", long + "2"}
	for i := range 2000 {
		names = append(names, fmt.Sprintf("k%d", i))
	}
	path := kernelsNamed(t, names...)
	for _, format := range []string{"md", "text"} {
		out := kernelTable(t, path, format)
		lines := strings.Split(out, "\n")
		if len(out) > 500<<10 || len(lines) < 2000 {
			t.Errorf("%s: %d bytes in %d lines", format, len(out), len(lines))
		}
	}
	seen := map[string]bool{}
	for _, line := range strings.Split(kernelTable(t, path, "md"), "\n") {
		if i := strings.Index(line, "`aaa"); i >= 0 {
			seen[line[i:]] = true
		}
	}
	if len(seen) != 2 {
		t.Errorf("labels of the long names: %v, want two", seen)
	}
	rows, err := csv.NewReader(strings.NewReader(kernelTable(t, path, "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for _, row := range rows {
		if name := row[len(row)-1]; name == names[0] || name == names[1] {
			whole++
		}
	}
	if whole != 2 || len(rows) != len(names)+1 {
		t.Errorf("%d rows, %d of them with whole names", len(rows), whole)
	}
}

// TestTableFormulas: a name that a spreadsheet would calculate is marked as text in CSV,
// and nowhere else. Numbers are not changed.
func TestTableFormulas(t *testing.T) {
	formulas := []string{`=HYPERLINK("http://x")`, "+1+1", "-2", "@SUM(A1)"}
	path := kernelsNamed(t, append([]string{"plain", "a=b", "'quoted"}, formulas...)...)
	rows, err := csv.NewReader(strings.NewReader(kernelTable(t, path, "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, row := range rows[1:] {
		got[row[len(row)-1]] = true
		if row[1] != "2000" {
			t.Errorf("total time %q", row[1])
		}
	}
	for _, name := range formulas {
		if !got["'"+name] || got[name] {
			t.Errorf("%q is not marked: %v", name, got)
		}
		if !strings.Contains(kernelTable(t, path, "text"), " "+name) {
			t.Errorf("%q is changed in the text", name)
		}
	}
	for _, name := range []string{"plain", "a=b", "'quoted"} {
		if !got[name] {
			t.Errorf("%q is changed", name)
		}
	}
}
