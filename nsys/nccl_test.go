package nsys

import (
	"fmt"
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"assay/internal/test"
	"assay/trace"
)

// TestCommRank: the rank of an export's process is that in its largest communicator, unless
// two of them disagree or several processes worked.
func TestCommRank(t *testing.T) {
	type comm struct{ pid, id, size, rank int64 }
	for name, tt := range map[string]struct {
		comms []comm
		pids  []int64 // with kernels
		want  int64   // -1 for none
	}{
		"one":                      {[]comm{{7, 1, 8, 5}}, []int64{7}, 5},
		"tensor before world":      {[]comm{{7, 1, 2, 1}, {7, 2, 8, 5}}, []int64{7}, 5},
		"world before tensor":      {[]comm{{7, 2, 8, 5}, {7, 1, 2, 1}}, []int64{7}, 5},
		"two worlds that agree":    {[]comm{{7, 1, 8, 5}, {7, 2, 8, 5}}, []int64{7}, 5},
		"two worlds that do not":   {[]comm{{7, 1, 8, 5}, {7, 2, 8, 4}}, []int64{7}, -1},
		"they do not, then larger": {[]comm{{7, 1, 4, 1}, {7, 2, 4, 2}, {7, 3, 8, 6}}, []int64{7}, 6},
		"two processes":            {[]comm{{7, 1, 8, 5}, {8, 1, 8, 6}}, []int64{7, 8}, -1},
		"two, then a larger one":   {[]comm{{7, 1, 4, 1}, {8, 1, 4, 2}, {7, 2, 8, 3}}, []int64{7}, -1},
		"one of two has NCCL":      {[]comm{{7, 1, 8, 5}}, []int64{7, 8}, -1},
		"rank out of range":        {[]comm{{7, 1, 8, 8}}, []int64{7}, -1},
		"none":                     {nil, []int64{7}, -1},
	} {
		path := filepath.Join(t.TempDir(), "run.sqlite")
		conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
		if err != nil {
			t.Fatal(err)
		}
		script := `CREATE TABLE StringIds(id, value); INSERT INTO StringIds VALUES(1, 'gemm'), (2, 'ncclCommInitRank');
			CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, globalPid, demangledName);
			CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);
			CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid, endGlobalTid, textId, domainId, jsonText);`
		for _, pid := range tt.pids {
			script += fmt.Sprintf(`INSERT INTO NVTX_EVENTS VALUES(0, NULL, %d, 'NCCL', %d, NULL, NULL, 3, NULL);`, nvtxDomain, pid<<24)
			script += fmt.Sprintf(`INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(100, 200, 0, 7, 5, %d, 1);`, pid<<24)
			script += fmt.Sprintf(`INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(90, 95, %d, 5, 1);`, pid<<24|1)
		}
		for _, c := range tt.comms {
			script += fmt.Sprintf(`INSERT INTO NVTX_EVENTS VALUES(0, NULL, %d, 'NCCL', %d, NULL, NULL, 3, NULL);`, nvtxDomain, c.pid<<24)
			script += fmt.Sprintf(`INSERT INTO NVTX_EVENTS VALUES(10, 20, %d, NULL, %d, NULL, 2, 3, '{"NCCL communicator ID":%d,"No. of ranks":%d,"Rank":%d,"CUDA device":0}');`,
				nvtxRange, c.pid<<24|1, c.id, c.size, c.rank)
		}
		if err := sqlitex.ExecuteScript(conn, script, nil); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		tr, err := ReadSQLite(path, path, trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		got := int64(-1)
		if tr.Meta.CommRank != nil {
			got = int64(*tr.Meta.CommRank)
		}
		if got != tt.want {
			t.Errorf("%s: rank %d, want %d", name, got, tt.want)
		}
	}
}

// TestCommRankOfCorpus: an export of two processes has no rank of its own.
func TestCommRankOfCorpus(t *testing.T) {
	path := test.Corpus(t, "ranks", "cs336_ddp_2x3090_nsys", "ddp53_profile.sqlite")
	tr, err := ReadSQLite(path, path, trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	if tr.Meta.CommRank != nil {
		t.Errorf("the rank is %d, want none", *tr.Meta.CommRank)
	}
}
