package nsys

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"assay/trace"
)

// sharing returns a database with thousands of rows that all have the one text
// of 2 MB that is in it: by its size it could hold a few of them.
func sharing(t *testing.T) []byte {
	const pageSize, textSize = 512, 2 << 20
	path := filepath.Join(t.TempDir(), "shared.sqlite")
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	err = sqlitex.ExecuteScript(conn, `PRAGMA page_size = 512; PRAGMA journal_mode = OFF;
		CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, globalPid, demangledName);
		INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1, 5, 0, 7, 1, 1, 1);
		CREATE TABLE StringIds(id, value);
		INSERT INTO StringIds VALUES(1, replace(hex(zeroblob(1048576)), '0', 'x'));
		WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i+1 FROM n WHERE i < 500)
		INSERT INTO StringIds SELECT i, replace(hex(zeroblob(200)), '0', 'y') FROM n;`, nil)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	b, readErr := os.ReadFile(path)
	if err != nil || readErr != nil {
		t.Fatal(err, readErr)
	}
	var long []byte // the cell whose text continues in further pages
	for at := pageSize; at < len(b); at += pageSize {
		page := b[at : at+pageSize]
		if page[0] != 13 { // a leaf of a table; pages that continue a text begin with 0
			continue
		}
		cell := page[binary.BigEndian.Uint16(page[8:]):]
		size, n := uint64(0), 0
		for ; ; n++ { // the high part comes first
			if size = size<<7 | uint64(cell[n]&0x7f); cell[n] < 0x80 {
				break
			}
		}
		switch {
		case size > textSize:
			const local = (pageSize - 12) * 32 / 255
			long = bytes.Clone(cell[:n+2+(local-23)+int(size-(local-23))%(pageSize-4)+4])
		case size < 300 || long == nil:
			continue
		}
		fill(page, long)
	}
	if len(long) == 0 || len(long) > 300 {
		t.Fatalf("a cell of %d bytes", len(long))
	}
	return b
}

// fill makes a leaf of as many copies of a cell as it has room for.
func fill(page, cell []byte) {
	clear(page)
	page[0] = 13
	n := max(1, (len(page)-8)/(len(cell)+2))
	end := len(page)
	for i := range n {
		end -= len(cell)
		copy(page[end:], cell)
		binary.BigEndian.PutUint16(page[8+2*i:], uint16(end))
	}
	binary.BigEndian.PutUint16(page[3:], uint16(n))
	binary.BigEndian.PutUint16(page[5:], uint16(end))
}

// TestSharedText: rows that share one long text end their table when they have
// more text than the file can, and what comes before stands.
func TestSharedText(t *testing.T) {
	tr, err := readBytes(t, sharing(t))
	if err != nil {
		t.Fatal(err)
	}
	if tr.Complete || tr.Activities.Len() != 1 || issueOf(tr, "export-damaged") != 1 {
		t.Fatalf("complete %v, %d kernels, issues %v", tr.Complete, tr.Activities.Len(), tr.Issues)
	}
	for _, is := range tr.Issues {
		if is.Code == "export-damaged" && !strings.Contains(is.Help, "more text than a file of") {
			t.Error(is.Help)
		}
	}
}

// TestFree: the ordinal of a device is the first from its number on that is not
// taken, as if all were asked one by one.
func TestFree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	l := newLoader(newRowBuffer(), "x", trace.SelectAll())
	taken, lowest := make(map[int64]bool), make(map[int64]int64)
	for i := range 3000 {
		pid, device := r.Int64N(900), r.Int64N(40)-5
		if _, again := l.ordinals[deviceKey{pid, device}]; again {
			continue
		}
		want := device
		for taken[want] {
			want++
		}
		taken[want] = true
		if have, ok := lowest[pid]; !ok || want < have {
			lowest[pid] = want
		}
		if got := l.device(pid, device); got != want {
			t.Fatalf("device %d of process %d, the %dth: got %d, want %d", device, pid, i, got, want)
		}
		if got := l.lowest[pid]; got != lowest[pid] {
			t.Fatalf("the lowest device of process %d: got %d, want %d", pid, got, lowest[pid])
		}
	}
}

// TestManyProcesses: hundreds of thousands of processes with a device each cost no more than
// their number.
func TestManyProcesses(t *testing.T) {
	l := newLoader(newRowBuffer(), "x", trace.SelectAll())
	start := time.Now()
	const most = 300_000
	for pid := range int64(most) {
		if got := l.device(pid, pid%7); got < 0 || got >= most+7 {
			t.Fatalf("process %d has device %d", pid, got)
		}
		if got := l.syncDevice(pid, 1, 99); got != l.ordinals[deviceKey{pid, pid % 7}] {
			t.Fatalf("synchronization of process %d on device %d", pid, got)
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestNested: a line that nests millions of times is skipped, and the others
// stand. One that has as many brackets in a row, or in a text, is none of those.
func TestNested(t *testing.T) {
	const many = 50_000_000
	kernel := kernelRow(1<<24, 0, 1, 100, 200)
	for name, line := range map[string]string{
		"lists":    `{"table":"StringIds","id":2,"value":` + strings.Repeat("[", many) + strings.Repeat("]", many) + "}",
		"no end":   `{"table":"StringIds","id":2,"value":` + strings.Repeat("[", many),
		"objects":  `{"data":` + strings.Repeat(`{"a":`, many/5) + "1" + strings.Repeat("}", many/5) + "}",
		"in front": strings.Repeat("[", many),
	} {
		for _, rows := range [][]string{{kernel, line}, {kernel, line, stringRow(1, "gemm")}} {
			tr := told(t, rows...)
			if tr.Activities.Len() != 1 || tr.Complete || issueOf(tr, "line-malformed") != 1 {
				t.Errorf("%s: %d kernels, complete %v, %v", name, tr.Activities.Len(), tr.Complete, tr.Issues)
			}
		}
	}
	flat := `{"table":"StringIds","id":1,"value":"` + strings.Repeat(`[{\"`, 2000) + `","more":[` + strings.Repeat("[],{},", 2000) + "0]}"
	if tr := told(t, flat, kernel); !tr.Complete || issueOf(tr, "line-malformed") != 0 {
		t.Errorf("flat: %v", tr.Issues)
	}
}
