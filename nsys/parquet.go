package nsys

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/parquet"
	"assay/trace"
)

// parquetExt ends the name of a file with a table.
const parquetExt = ".parquet"

// ParquetTable reports whether a file of this name shows that its directory is an export.
func ParquetTable(path string) bool {
	name, ok := strings.CutSuffix(filepath.Base(path), parquetExt)
	return ok && isTable(name)
}

// ParquetFiles returns the paths of the tables of an export in a directory, sorted by name. Other directories have none.
func ParquetFiles(dir string) (paths []string) {
	list, _ := os.ReadDir(dir)
	known := false
	for _, entry := range list {
		if entry.Type().IsRegular() && filepath.Ext(entry.Name()) == parquetExt {
			paths = append(paths, filepath.Join(dir, entry.Name()))
			known = known || ParquetTable(entry.Name())
		}
	}
	if !known {
		return nil
	}
	return paths
}

// A directory is an export with a file for each table.
type directory struct {
	paths   map[string]string   // by the name of the table in lower case
	heads   map[string][]string // columns, by the same
	textual map[string][]string // those with texts
	failed  map[string]error    // why a table cannot be read, by its name
	memory  int64
}

// openDirectory reads the descriptions of the tables in a directory.
func openDirectory(dir string, memory int64) directory {
	d := directory{make(map[string]string), make(map[string][]string), make(map[string][]string), make(map[string]error), memory}
	for _, path := range ParquetFiles(dir) {
		name := strings.TrimSuffix(filepath.Base(path), parquetExt)
		key := strings.ToLower(name)
		d.paths[key] = path
		if err := d.open(key, func(f *parquet.File) error { d.heads[key], d.textual[key] = f.Columns(); return nil }); err != nil {
			d.failed[name] = err
		}
	}
	return d
}

// open opens the file of a table.
func (d directory) open(key string, use func(*parquet.File) error) error {
	file, err := os.Open(d.paths[key])
	if err != nil {
		return errors.Unwrap(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	f, err := parquet.Open(file, info.Size())
	if err != nil {
		return err
	}
	f.Memory = cmp.Or(d.memory, f.Memory)
	return use(f)
}

func (d directory) columns(table string) []string { return d.heads[strings.ToLower(table)] }

func (d directory) scan(table string, columns []string, each func(row) bool) error {
	return d.open(strings.ToLower(table), func(f *parquet.File) error {
		return f.Scan(columns, func(r *parquet.Row) bool { return each(r) })
	})
}

func (d directory) tables() []string { return slices.Sorted(maps.Keys(d.heads)) }

func (d directory) texts(table string) ([]string, error) { return d.textual[table], nil }

// ReadParquet reads the export in a directory, which nsys export --type parquetdir writes. The file name is used in messages.
//
// The error says why nothing could be read. Problems that leave a usable trace are in its Issues.
func ReadParquet(dir, file string, sel trace.Select) (*trace.Trace, error) {
	d := openDirectory(dir, sel.Limits.Memory/4)
	var early []diag.Issue
	for _, name := range slices.Sorted(maps.Keys(d.failed)) {
		if isRead(name) {
			early = append(early, damagedTable(file, name, 0, d.failed[name]))
		}
	}
	t, err := read(d, file, sel, len(early) > 0, early...)
	if err != nil && len(early) > 0 {
		name := slices.Min(slices.Collect(maps.Keys(d.failed)))
		return nil, fmt.Errorf("%s: no table of the export can be read (%s%s: %w); copy it again, or export again: nsys export --type parquetdir",
			file, name, parquetExt, d.failed[name])
	}
	return t, err
}

// isRead reports whether the result depends on a table.
func isRead(name string) bool { return newRowBuffer().wanted[name] != nil }
