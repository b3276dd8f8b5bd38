package trace

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/diag"
	"assay/internal/test"
)

// manyRows returns a trace with rows of every kind that an Assembler accepts.
func manyRows(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"traceEvents":[{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"train"}},{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"main"}}`)
	for i := range n {
		fmt.Fprintf(&b, `,
{"ph":"X","cat":"cpu_op","name":"op%d","pid":1,"tid":%d,"ts":%d,"dur":9,"args":{"External id":%d,"Sequence number":%d,"Input Dims":[[%d]]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":%d,"ts":%d,"dur":2,"args":{"correlation":%d}},
{"ph":"X","cat":"kernel","name":"k%d","pid":%d,"tid":7,"ts":%d,"dur":5.5,"args":{"device":%d,"stream":7,"correlation":%d,"grid":[%d,1,1]}},
{"ph":"X","cat":"user_annotation","name":"step","pid":1,"tid":2,"ts":%d,"dur":8},
{"ph":"b","cat":"req","id":%d,"name":"r","pid":1,"tid":2,"ts":%d},{"ph":"e","cat":"req","id":%d,"name":"r","pid":1,"tid":2,"ts":%d}`,
			i%7, i%3, 10*i, i, i, i, i%3, 10*i+1, i+1, i%11, i%2, 10*i+3, i%2, i+1, i%4, 10*i, i, 10*i, i, 10*i+4)
	}
	b.WriteString("]}")
	return b.Bytes()
}

// assembled builds a trace again from its rows, in the order of their tables.
func assembled(t *testing.T, from *Trace, sel Select) (tr *Trace, epochs int) {
	t.Helper()
	a := NewAssembler(from.File, sel)
	sym := func(s Sym) Sym { return a.Sym([]byte(from.Name(s))) }
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	track := func(id TrackID) TrackID {
		k := from.Tracks[id]
		if k.OnDevice {
			return a.Stream(number(k.PID), k.Device, k.Stream)
		}
		return a.Thread(number(k.PID), number(k.TID))
	}
	for _, k := range from.Tracks {
		if k.Process != "" {
			a.NameProcess(number(k.PID), k.Process)
		}
		if k.Thread != "" {
			a.NameThread(number(k.PID), number(k.TID), k.Thread)
		}
	}
	for o := range from.Ops.All() {
		row, name, shape := *o, sym(o.Name), *from.Shape(o.Shape)
		shape.Dims = sym(shape.Dims)
		row.Name, row.Track, row.Shape = name, track(o.Track), a.Shape(shape, name)
		a.Op(row)
	}
	for c := range from.Calls.All() {
		row := *c
		row.Name, row.Track = sym(c.Name), track(c.Track)
		a.Call(row)
	}
	for k := range from.Activities.All() {
		row, name := *k, sym(k.Name)
		row.Name, row.Track, row.Detail = name, track(k.Track), a.Detail(*from.Detail(k.Detail), name)
		a.Activity(row)
	}
	for s := range from.Spans.All() {
		row := *s
		row.Name, row.Category, row.Track = sym(s.Name), sym(s.Category), track(s.Track)
		a.Span(row)
	}
	for i := range from.Async {
		row := from.Async[i]
		row.Name, row.Category, row.Track = sym(row.Name), sym(row.Category), track(row.Track)
		a.Async(row)
	}
	return a.Trace(from.Meta, from.Events, true), a.Epoch()
}

// TestAssembler: a trace assembled from the rows of another trace equals that
// trace, also if the builder was replaced many times.
func TestAssembler(t *testing.T) {
	n := 30_000
	if test.Long() {
		n = 60_000
	}
	for _, memory := range []int64{0, int64(n) * 2000} {
		sel := SelectAll()
		sel.Limits.Memory, sel.Limits.Names = memory, 1<<20
		want, err := Read(bytes.NewReader(manyRows(n)), "in", sel)
		if err != nil {
			t.Fatal(err)
		}
		got, epochs := assembled(t, want, sel)
		if memory > 0 && epochs < 2 {
			t.Errorf("%d epochs: the builder was not replaced", epochs)
		}
		if w, g := dump(want), dump(got); w != g {
			t.Fatalf("memory %d: want(-) got(+)\n%.3000s", memory, cmp.Diff(strings.Split(w, "\n"), strings.Split(g, "\n")))
		}
	}
}

// TestAssemblerLimits: rows that are not selected are dropped. A limit ends the
// input with its issue, and later rows are not counted.
func TestAssemblerLimits(t *testing.T) {
	sel := Select{Kinds: Of(Kernel), Limits: LimitsOf(16 << 20)}
	a := NewAssembler("in", sel)
	if a.Wants(Runtime) || !a.Wants(Kernel) {
		t.Fatal("Wants is not what was selected")
	}
	a.Call(Call{Kind: Runtime})
	for i := 0; !a.Full() && i < 1<<20; i++ {
		name := a.Sym(fmt.Appendf(nil, "k%d", i))
		a.Activity(Activity{Kind: Kernel, Start: int64(i), Dur: 1, Name: name, Track: a.Stream(1, 0, 7), Detail: a.Detail(Detail{}, name)})
	}
	before := a.rows
	a.Activity(Activity{Kind: Kernel, Start: 1 << 40})
	a.Issue(diag.Issue{Code: "mine", Severity: diag.Info}, 3)
	tr := a.Trace(Meta{}, 0, true)
	if before == 0 || int64(tr.Activities.Len()) != before || tr.Calls.Len() != 0 || tr.Complete || !tr.Limited() {
		t.Errorf("%d rows of %d, %d calls, complete %v, limited %v", tr.Activities.Len(), before, tr.Calls.Len(), tr.Complete, tr.Limited())
	}
	var codes []string
	for _, is := range tr.Issues {
		codes = append(codes, fmt.Sprintf("%s %d", is.Code, is.Count))
	}
	if got := strings.Join(codes, ", "); got != "memory-limit 1, mine 3" {
		t.Errorf("issues: %s", got)
	}
}
