package nsys

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"assay/internal/database"
	"assay/internal/test/nsysgen"
	"assay/internal/test/tracegen"
	"assay/trace"
)

// TestSameRows: an export gives, row by row, what the trace of the same run
// gives, at times that differ by one constant. What is compared is what both
// can say.
func TestSameRows(t *testing.T) {
	scenarios := []tracegen.Scenario{tracegen.Graphs(), tracegen.MultiDevice(), tracegen.CopyBound(), tracegen.LLMTrainStep(), tracegen.CPUOnly()}
	driven := tracegen.ComputeBound()
	for i := range driven.Devices[0].Program {
		for k := range driven.Devices[0].Program[i].Ops {
			if i%3 == 0 {
				driven.Devices[0].Program[i].Ops[k].Call = "cuLaunchKernelEx"
			}
		}
	}
	syncs := 0
	for _, sc := range append(scenarios, driven) {
		t.Run(sc.Name, func(t *testing.T) {
			var text bytes.Buffer
			path := filepath.Join(t.TempDir(), "run.sqlite")
			rec, err := nsysgen.Record(path, &text, sc, 0)
			if err != nil {
				t.Fatal(err)
			}
			want, err := trace.Read(&text, sc.Name, trace.SelectAll())
			if err != nil {
				t.Fatal(err)
			}
			got, err := ReadSQLite(path, sc.Name, trace.SelectAll())
			if err != nil {
				t.Fatal(err)
			}
			a, b := shared(want, rec.ShiftNS), shared(got, 0)
			if !slices.Equal(a, b) || len(a) < 100 {
				i := 0
				for i < min(len(a), len(b)) && a[i] == b[i] {
					i++
				}
				t.Errorf("%d rows, the trace has %d; from the %dth on %s; the trace has %s", len(b), len(a), i, b[i:min(i+1, len(b))], a[i:min(i+1, len(a))])
			}
			syncs += checkSyncs(t, got)
		})
	}
	if syncs == 0 {
		t.Error("nothing was waited for")
	}
}

// shared returns what both formats can say of a run, as text.
func shared(t *trace.Trace, shift int64) (out []string) {
	say := func(words ...any) { out = append(out, strings.TrimSuffix(fmt.Sprintln(words...), "\n")) }
	thread := func(id trace.TrackID) string { return t.Tracks[id].PID + "/" + t.Tracks[id].TID }
	for a := range t.Activities.All() {
		d, on := t.Detail(a.Detail), t.Tracks[a.Track]
		say("work", a.Start+shift, a.Dur, a.Kind, t.Name(a.Name), a.Correlation, on.Device, on.Stream, d.Bytes, d.GraphID)
	}
	for c := range t.Calls.All() {
		say("call", c.Start+shift, c.Dur, c.Kind, t.Name(c.Name), c.Correlation, thread(c.Track))
	}
	for o := range t.Ops.All() {
		say("op", o.Start+shift, o.Dur, t.Name(o.Name), o.External, t.Name(t.Shape(o.Shape).Dims), o.Sequence != 0, thread(o.Track))
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation {
			say("range", s.Start+shift, s.Dur, t.Name(s.Name), thread(s.Track))
		}
	}
	slices.Sort(out)
	return out
}

// checkSyncs returns how many calls wait for a stream, and checks that each is
// there as the device saw it too, within the call.
func checkSyncs(t *testing.T, tr *trace.Trace) (calls int) {
	t.Helper()
	seen := 0
	for c := range tr.Calls.All() {
		if !strings.HasSuffix(tr.Name(c.Name), "Synchronize") {
			continue
		}
		calls++
		for s := range tr.Spans.All() {
			within := s.Start >= c.Start && s.Start+s.Dur <= c.Start+c.Dur
			if on := tr.Tracks[s.Track]; within && s.Kind == trace.Sync && on.OnDevice && on.Device == 0 && tr.Name(s.Name) == "Stream Sync" {
				seen++
			}
		}
	}
	if calls != seen {
		t.Errorf("%d calls synchronize, and the device saw %d", calls, seen)
	}
	return calls
}

// TestSameLines: the rows of a database give the same as lines of JSON.
func TestSameLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.sqlite")
	if _, err := nsysgen.Record(path, io.Discard, tracegen.LLMTrainStep(), 0); err != nil {
		t.Fatal(err)
	}
	want, err := ReadSQLite(path, "run", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadJSON(bytes.NewReader(linesOf(t, path)), "run", trace.SelectAll(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := contents(want), contents(got)
	if !slices.Equal(a, b) || len(a) < 1000 {
		t.Errorf("%d rows, the database has %d, or some differ", len(b), len(a))
	}
}

// linesOf writes a database as nsys export --type jsonlines does.
func linesOf(t *testing.T, path string) []byte {
	t.Helper()
	db, err := database.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	for _, table := range db.Tables() {
		err := db.Query("SELECT * FROM "+database.Quote(table), func(s *sqlite.Stmt) bool {
			line := map[string]any{"table": table}
			for i, column := range db.Columns(table) {
				switch s.ColumnType(i) {
				case sqlite.TypeInteger:
					line[column] = s.ColumnInt64(i)
				case sqlite.TypeText:
					line[column] = s.ColumnText(i)
				}
			}
			return lines.Encode(line) == nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}
