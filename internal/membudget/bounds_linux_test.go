package membudget

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// tree writes files with their content below a new directory.
func tree(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestCgroupLimit: the smallest limit on the way up counts, in both versions.
func TestCgroupLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  int64
		ok    bool
	}{
		"none":      {map[string]string{"list": "0::/a\n"}, 0, false},
		"no list":   {map[string]string{}, 0, false},
		"v2":        {map[string]string{"list": "0::/a/b\n", "a/b/memory.max": "3000\n", "a/memory.max": "max\n"}, 3000, true},
		"v2 above":  {map[string]string{"list": "0::/a/b\n", "a/b/memory.max": "3000\n", "a/memory.max": "2000\n"}, 2000, true},
		"v2 high":   {map[string]string{"list": "0::/a/b\n", "a/b/memory.max": "3000\n", "a/b/memory.high": "1000\n"}, 1000, true},
		"v2 root":   {map[string]string{"list": "0::/docker/x\n", "memory.max": "500\n"}, 500, true},
		"v2 beside": {map[string]string{"list": "0::/a\n", "b/memory.max": "500\n"}, 0, false},
		"v1":        {map[string]string{"list": "3:cpu:/a\n4:memory:/a\n0::/\n", "memory/a/memory.limit_in_bytes": "700\n", "memory/memory.limit_in_bytes": "9223372036854771712\n"}, 700, true},
		"v1 above":  {map[string]string{"list": "4:hugetlb,memory:/a/b\n", "memory/a/b/memory.limit_in_bytes": "700\n", "memory/memory.limit_in_bytes": "600\n"}, 600, true},
		"v1 other":  {map[string]string{"list": "4:memory_x:/a\n", "memory/a/memory.limit_in_bytes": "700\n"}, 0, false},
		"damaged":   {map[string]string{"list": "0\n::\n0::/a\n", "a/memory.max": "lots\n"}, 0, false},
		"outside":   {map[string]string{"list": "0::/../../a\n", "a/memory.max": "9\n"}, 9, true},
	} {
		dir := tree(t, tc.files)
		got, ok := cgroupLimit(filepath.Join(dir, "list"), dir)
		if got != tc.want || ok != tc.ok {
			t.Errorf("%s: %d, %v; want %d, %v", name, got, ok, tc.want, tc.ok)
		}
	}
}

func TestAvailable(t *testing.T) {
	dir := tree(t, map[string]string{"a": "MemTotal: 900 kB\nMemAvailable:   24 kB\n", "b": "MemTotal: 1 kB\n", "c": "MemAvailable: x kB\n"})
	for name, want := range map[string]int64{"a": 24 << 10, "b": 0, "c": 0, "d": 0} {
		if got, ok := available(filepath.Join(dir, name)); got != want || ok != (want > 0) {
			t.Errorf("%s: %d, %v; want %d", name, got, ok, want)
		}
	}
}

// TestResident: what the process takes grows by what it takes.
func TestResident(t *testing.T) {
	before, _, ok := Resident()
	if !ok || before <= 0 {
		t.Fatalf("%d, %v", before, ok)
	}
	const size = 64 << 20
	b := make([]byte, size)
	for i := 0; i < size; i += 512 {
		b[i] = 1
	}
	if after, _, _ := Resident(); after-before < size*9/10 {
		t.Errorf("%d, then %d", before, after)
	}
	runtime.KeepAlive(b)
}
