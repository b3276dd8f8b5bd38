package nsysstats

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"assay/internal/test"
	"assay/trace"
)

// FuzzTables: for any trace every report terminates, does not panic, has a cell
// for each column and at most the permitted number of rows.
func FuzzTables(f *testing.F) {
	for _, file := range test.Files(f, filepath.Join("..", "..", "testdata", "malformed", "*.json")) {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`[{"ph":"X","cat":"user_annotation","name":"a","pid":1,"tid":1,"ts":-9223372036854775,"dur":9223372036854775},
		{"ph":"b","cat":"user_annotation","id":1,"name":"r","pid":1,"tid":1,"ts":0},{"ph":"e","cat":"user_annotation","id":1,"name":"r","pid":1,"tid":1,"ts":9223372036854774},
		{"ph":"X","cat":"cuda_runtime","name":"_v7000","pid":1,"tid":1,"ts":1,"dur":9223372036854774,"args":{"correlation":1}},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":-9223372036854775,"dur":0,"args":{"correlation":1,"device":0,"stream":7}},
		{"ph":"X","cat":"gpu_memcpy","name":"Memcpy ","pid":0,"tid":7,"ts":9223372036854774,"dur":1,"args":{"correlation":1,"device":0,"stream":7,"bytes":9223372036854775807}}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := trace.Read(bytes.NewReader(b), "in", Needs(Names()))
		if err != nil {
			return
		}
		const most = 3
		for _, table := range Tables(tr, Names(), most) {
			if len(table.Rows) > most {
				t.Errorf("%s: %d rows, over %d", table.Name, len(table.Rows), most)
			}
			for _, row := range table.Rows {
				if len(row) != len(table.Columns) {
					t.Errorf("%s: %d cells for %d columns", table.Name, len(row), len(table.Columns))
				}
			}
		}
	})
}
