package pyprof

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"assay/internal/profile"
	"assay/internal/test"
)

// fuzz feeds a reader with the files that match, cut to their beginnings, and with
// more. Whatever the input is, it ends, tables hold what they promise, and no
// value is below zero.
func fuzz(f *testing.F, read readFunc, sniff func([]byte) bool, more []string, patterns ...string) {
	for _, pattern := range patterns {
		for _, file := range test.Files(f, filepath.Join(profiles, pattern)) {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text[:min(2000, len(text))])
		}
	}
	for _, s := range more {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		sniff(in)
		tables, err := read(bytes.NewReader(in), "in", Limits{Rows: 20})
		if tables == nil {
			if err == nil {
				t.Error("neither tables nor an error")
			}
			return
		}
		for _, table := range tables.List {
			if err := table.Check(); err != nil {
				t.Error(err)
			}
			if len(table.Rows) > 20 {
				t.Errorf("%d rows, the limit is 20", len(table.Rows))
			}
			for _, row := range table.Rows {
				checkCells(t, row.Cells)
			}
			checkCells(t, table.Rest)
		}
	})
}

func checkCells(t *testing.T, cells []profile.Cell) {
	for _, c := range cells {
		if c.Known && c.Value < 0 {
			t.Errorf("a value of %d", c.Value)
		}
	}
}

func FuzzYappi(f *testing.F) {
	fuzz(f, ReadYappi, SniffYappi, []string{"name #n ttot\nf 3/1 0.5\ng 3.. -1\n"}, "yappi_*.txt", "yappi_*.log")
}

func FuzzPstats(f *testing.F) {
	fuzz(f, ReadPstats, SniffPstats, nil, "pstats*.txt")
}

func FuzzCallgrind(f *testing.F) {
	fuzz(f, ReadCallgrind, SniffCallgrind, []string{
		"events: Ir Dr\npositions: instr line\nfl=(1) a\nfn=(1) f\n0x1 2 3 4\n+1 * 9223372036854775807\ncfn=(2) g\ncalls=2 0x5 1\n* * 7\njump=1 2 3\n* 4\n",
		"events: ns\nfn=a\n1 2\ncfn=b\ncalls=1 1\n1 10\nfn=b\n1 10\ncfn=a\ncalls=1 1\n1 5\ntotals: 3\n",
	}, "*.callgrind")
}

func FuzzProf(f *testing.F) {
	fuzz(f, ReadProf, SniffProf, []string{"{0", "\xfb\xa9\x03" + mText("a")[1:]}, "*.prof", "*.pstat")
}
