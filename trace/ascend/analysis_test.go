package ascend_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/profile"
	"assay/trace/ascend"
)

// analysisRows are two steps with an all-reduce each and a broadcast, and the totals of a step. An all-reduce sends 20 MB
// by SDMA, of which 15 by HCCS and 5 by PCIe, and 3 by RDMA; each link has a row for each size of packets.
func analysisRows() (rows []dbRow) {
	add := func(table string, values ...any) { rows = append(rows, dbRow{Table: table, Values: values}) }
	const reduce, group = "hcom_allReduce__303_0_1@123", "123"
	add("CommAnalyzerTime", reduce, group, 1.0, 10.5, 4.25, 6.0, 5.0, 0.25, "step1", "collective")
	add("CommAnalyzerTime", reduce, group, 2.0, 20.5, 8.0, 12.0, 9.0, 0.5, "step2", "collective")
	add("CommAnalyzerTime", "hcom_broadcast__303_1_1@123", group, 3.0, 1.5, 1.0, 0.0, 0.0, 0.5, "step2", "collective")
	add("CommAnalyzerTime", "Total Op Info", group, 0.0, 32.5, 13.25, 18.0, 14.0, 1.25, "step2", "collective")
	for _, step := range []string{"step1", "step2"} {
		for _, l := range []struct {
			kind string
			mb   float64
		}{{"SDMA", 20}, {"SDMA", 20}, {"HCCS", 15}, {"PCIE", 5}, {"RDMA", 3}} {
			add("CommAnalyzerBandwidth", reduce, group, l.kind, l.mb, 1.0, 20.0, 1.0, 8.0, 2, 1.0, step, "collective")
		}
	}
	return rows
}

func readAnalysis(t testing.TB, rows []dbRow) (*profile.Tables, bool, error) {
	path := filepath.Join(t.TempDir(), "analysis.db")
	if err := writeRows(path, rows); err != nil {
		t.Fatal(err)
	}
	return ascend.ReadAnalysis(path, "analysis.db", 0)
}

// TestAnalysis: the database gives what communication.json of the same collectives gives.
func TestAnalysis(t *testing.T) {
	got, ok, err := readAnalysis(t, analysisRows())
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	links := `,"Communication Bandwidth Info":{"SDMA":{"Transit Size(MB)":20},"HCCS":{"Transit Size(MB)":15},"PCIE":{"Transit Size(MB)":5},"RDMA":{"Transit Size(MB)":3}}`
	op := func(elapse, transit, wait, links string) string {
		return `{"Communication Time Info":{"Elapse Time(ms)":` + elapse + `,"Transit Time(ms)":` + transit + `,"Wait Time(ms)":` + wait + `}` + links + `}`
	}
	text := `{"step1":{"collective":{"hcom_allReduce__303_0_1@123":` + op("10.5", "4.25", "6", links) + `}},"step2":{"collective":{"hcom_allReduce__303_0_1@123":` +
		op("20.5", "8", "12", links) + `,"hcom_broadcast__303_1_1@123":` + op("1.5", "1", "0", "") + `,"Total Op Info":` + op("32.5", "13.25", "18", "") + `}}}`
	want, err := ascend.ReadCollectives(strings.NewReader(text), "communication.json", 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cells(t, want), cells(t, got)); diff != "" || !got.Complete || got.Records != 3 {
		t.Errorf("%s, %d records, issues %v", diff, got.Records, got.Issues)
	}
	// 31 ms in two calls, and 2 x 23 MB.
	if first := cells(t, got)[0]; !strings.HasSuffix(first, ": 31000000 2 12250000 18000000 46000000") {
		t.Error(first)
	}
}

// TestAnalysisRefused: other databases are not recognized, and one without times is an error.
func TestAnalysisRefused(t *testing.T) {
	if _, ok, err := readAnalysis(t, small()); ok || err != nil {
		t.Errorf("a timeline: %t, %v", ok, err)
	}
	row := dbRow{Table: "CommAnalyzerTime", Values: []any{"hcom_send__1", "1", 0, "soon", 1, 1, 1, 1, "step1", "p2p"}}
	if _, ok, err := readAnalysis(t, []dbRow{row}); !ok || !errors.Is(err, ascend.ErrNoCollectives) {
		t.Errorf("%t, %v", ok, err)
	}
	got, _, err := readAnalysis(t, append(analysisRows(), row))
	if err != nil || got.Complete || len(got.Issues) != 1 || got.Issues[0].Code != "record-malformed" {
		t.Errorf("%+v, %v", got, err)
	}
}

// FuzzAnalysis changes bytes of a small database where its tables are.
func FuzzAnalysis(f *testing.F) {
	path := filepath.Join(f.TempDir(), "a.db")
	if err := writeRows(path, analysisRows()); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint16(100), []byte{0})
	f.Add(uint16(4096), []byte("\x0d\xff"))
	f.Add(uint16(8192+8), []byte("hcom"))
	f.Fuzz(func(t *testing.T, at uint16, by []byte) {
		b := bytes.Clone(whole)
		copy(b[min(int(at), len(b)):], by)
		path := filepath.Join(t.TempDir(), "a.db")
		if os.WriteFile(path, b, 0o600) != nil {
			return
		}
		got, ok, err := ascend.ReadAnalysis(path, "a.db", 100)
		if ok && (got == nil) == (err == nil) {
			t.Fatal("neither tables nor an error")
		}
		if got != nil {
			for _, table := range got.List {
				if err := table.Check(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
