package ingest

import (
	"io"
	"strings"
	"testing"
	"time"

	"assay/trace"
)

// An endless reader repeats one line.
type endless struct{ line string }

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for len(p)-n >= len(e.line) {
		n += copy(p[n:], e.line)
	}
	return n, nil
}

// TestEndlessTable: a limit ends a pipe that never ends, and what was read before
// stands.
func TestEndlessTable(t *testing.T) {
	const header = "Time (%),Total Time (ns),Instances,Name\n"
	f, err := Open(Stdin, io.MultiReader(strings.NewReader(header), endless{"100.0,5,1,a\n"}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sel := trace.SelectAll()
	sel.Limits.Input = int64(len(header) + 12*1000)
	type result struct {
		in  *Input
		err error
	}
	done := make(chan result, 1)
	go func() {
		in, err := Load(f, sel)
		done <- result{in, err}
	}()
	select {
	case r := <-done:
		if r.err != nil || r.in.Tables == nil || r.in.Tables.Complete || r.in.Tables.Records != 1000 || r.in.SHA256 != "" {
			t.Errorf("got %+v, %v", r.in, r.err)
		} else if code := r.in.Tables.Issues[0].Code; code != "share-mismatch" && code != "input-limit" {
			t.Errorf("issues %+v", r.in.Tables.Issues)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the reading does not end")
	}
}

// TestTableRows: rows are bounded by the memory that the input may take.
func TestTableRows(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("Time (%),Total Time (ns),Instances,Name\n")
	for range 100 {
		csv.WriteString("1.0,5,1,a\n")
	}
	f, err := Open(Stdin, strings.NewReader(csv.String()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sel := trace.SelectAll()
	sel.Limits.Memory = 10 << 14
	in, err := Load(f, sel)
	if err != nil || len(in.Tables.List[0].Rows) != 10 || in.Tables.List[0].Left != 90 {
		t.Errorf("got %+v, %v", in, err)
	}
}
