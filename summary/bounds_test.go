package summary

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/summary/row"
)

// TestReadBounds: numbers that no job can have are refused, alone and together, and the error
// names the first.
func TestReadBounds(t *testing.T) {
	const most, quarter = "4611686018427387903", "2305843009213693952"
	const read = "; a summary of assay has no such number, so write it again from the capture"
	for _, tc := range []struct{ rows, want string }{
		{`"kernels":[{"total_ns":` + most + `}]`, ""},
		{`"kernels":[{"total_ns":4611686018427387904}]`, "kernels[0].total_ns: got 4611686018427387904; all times in ns of a summary add up to at most " + most},
		{`"kernels":[{"total_ns":` + quarter + `},{"count":` + quarter + `},{"total_ns":` + quarter + `}]`,
			"kernels[2].total_ns: got " + quarter + "; all times in ns of a summary add up to at most " + most},
		{`"kernels":[{"min_ns":` + quarter + `,"max_ns":` + quarter + `}]`, ""}, // not sums
		{`"kernels":[{"max_ns":4611686018427387904}]`, "kernels[0].max_ns: got 4611686018427387904; all times in ns of a summary add up to at most " + most},
		{`"copies":[{"count":-1}]`, "copies[0].count: got -1, want 0 or more"},
		{`"copies":[{"bytes":-9223372036854775808}]`, "copies[0].bytes: got -9223372036854775808, want 0 or more"},
		{`"devices":[{"strip":{"ns":{"comm":[9223372036854775807]}}}]`,
			`devices[0].strip.ns["comm"][0]: got 9223372036854775807; all times in ns of a summary add up to at most ` + most},
		{`"steps":[{"source":"log","wall_ns":` + quarter + `}],"phases":[{"source":"log","device":-1,"path":"a","host_ns":` + quarter + `}]`,
			"phases[0].host_ns: got " + quarter + "; all times in ns of a summary add up to at most " + most},
		{`"calls":[{"launched":9223372036854775807}]`, "calls[0].launched: got 9223372036854775807; all counts of a summary add up to at most " + most},
		{`"memory":[{"peak_reserved":9223372036854775807}]`, "memory[0].peak_reserved: got 9223372036854775807; all sizes in bytes of a summary add up to at most " + most},
		{`"snapshots":[{"blocks":-1}]`, "snapshots[0].blocks: got -1, want 0 or more"},
		{`"inputs":[{"path":"x","span_ns":-1}]`, "inputs[0].span_ns: got -1, want 0 or more"},
		// The idle time of a window that older versions wrote is cut.
		{`"devices":[{"window_ns":9000000000000000000,"activity":[{"classes":[],"ns":8999999999999999999},{"classes":["copy"],"ns":1}]}]`, ""},
		// Moments, numbers of things, and differences.
		{`"devices":[{"start_ns":-9223372036854775808,"device":9223372036854775807}]`, ""},
		{`"memory":[{"device":-1,"strip":{"bin_ns":1,"allocated":[-1],"reserved":[-1]}}]`, ""},
		{`"tables":[{"columns":[{"name":"total"}],"rows":[{"values":[-5]}]}]`, ""},
	} {
		in := `{"schema":"assay/summary/1","inputs":[{"path":"x"}],` + tc.rows + `}`
		want := tc.want
		if want != "" {
			want = "s.json: " + want + read
		}
		_, err := Read(strings.NewReader(in), "s.json")
		if got := ""; err != nil {
			got = err.Error()
			if got != want {
				t.Errorf("%s:\ngot  %s\nwant %s", tc.rows, got, want)
			}
		} else if want != "" {
			t.Errorf("%s: no error, want %s", tc.rows, want)
		}
	}
}

// TestBoundsNaN: a number that JSON cannot have does not come through.
func TestBoundsNaN(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		err := NewBounds().Take(&Summary{Series: []Series{{}, {Mean: &x}}})
		if err == nil || !strings.HasPrefix(err.Error(), "series[1].mean: got ") {
			t.Errorf("%v: got %v", x, err)
		}
	}
}

// TestSumsFit: whatever the bounds let through can be added up, by any key and over all kinds,
// and what they refuse takes nothing from them.
func TestSumsFit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	taken, refused := 0, 0
	for range 500 {
		s := randomSummary(rnd)
		whole := uint(rnd.IntN(24))
		enlarge(reflect.ValueOf(s).Elem(), func() int64 { return rnd.Int64N(1 << 62 >> whole) })
		bounds := NewBounds()
		before := *bounds
		if err := bounds.Take(s); err != nil {
			if refused++; *bounds != before {
				t.Fatal("a summary that does not fit took from the bounds")
			}
			continue
		}
		taken++
		var sum int64
		exact := new(big.Int)
		add := func(n int64) {
			sum += n
			exact.Add(exact, big.NewInt(n))
		}
		for _, k := range Described() {
			rows := reflect.ValueOf(s.RowsOf(k))
			for i := range rows.Len() {
				for c := range k.Columns {
					if k.Columns[c].Adds == row.Sum && k.Columns[c].Unit == row.Time {
						add(k.Columns[c].Number(rows.Index(i)))
					}
				}
			}
		}
		for _, d := range s.Devices {
			add(d.WindowNS)
			add(d.Activity.Window())
			add(d.Gaps.TotalNS())
			add(d.Durations.TotalNS())
		}
		for _, st := range s.Steps {
			add(st.WallNS)
		}
		if !exact.IsInt64() || exact.Int64() != sum {
			t.Fatalf("the sum of what was taken is %s, added up %d", exact, sum)
		}
	}
	if taken < 30 || refused < 30 {
		t.Errorf("%d summaries were taken and %d refused; both are to be tried", taken, refused)
	}
}

// enlarge replaces some numbers of a value.
func enlarge(v reflect.Value, number func() int64) {
	switch v.Kind() {
	case reflect.Int64:
		if n := number(); n%3 == 0 {
			v.SetInt(n)
		}
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			if f.name != ".inputs" {
				enlarge(v.Field(f.at), number)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			enlarge(v.Index(i), number)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			enlarge(v.Elem(), number)
		}
	}
}

// TestBoundsJoint: the bounds of a job are those of all its inputs.
func TestBoundsJoint(t *testing.T) {
	one := &Summary{Kernels: []Kernel{{TotalNS: 1 << 58}}}
	bounds := NewBounds()
	for i := range 4 {
		if err := bounds.Take(one); err != nil {
			t.Fatalf("input %d: %v", i, err)
		}
	}
	if err := bounds.Take(one); err == nil {
		t.Error("the fifth quarter fits")
	}
}

// TestBoundsOfRollUp: the rows that [Summary.RollUp] adds fit into what Read accepts.
func TestBoundsOfRollUp(t *testing.T) {
	s := &Summary{Schema: Schema}
	var job Job
	for rank := range 4 {
		s.Inputs = append(s.Inputs, Input{Path: "x", Rank: rank})
		job.Inputs = append(job.Inputs, rank)
		const window = mostMerged / 16
		s.Devices = append(s.Devices, Device{Input: rank, Rank: rank, WindowNS: window, Activity: Activity{ClassCompute: window}})
		s.Kernels = append(s.Kernels, Kernel{Name: "k", Class: "compute", Input: rank, Rank: rank, Count: 1, TotalNS: window, MinNS: window, MaxNS: window})
		s.Steps = append(s.Steps, Step{Input: rank, Rank: rank, WallNS: window / 2, Activity: Activity{ClassCompute: window / 2}})
	}
	job.Full = job.Inputs
	if err := NewBounds().Take(s); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(strings.NewReader(text(t, s.RollUp([]Job{job}))), "s.json"); err != nil {
		t.Error(err)
	}
}

// TestBoundsNames: each name that the bounds have a rule for is that of a field.
func TestBoundsNames(t *testing.T) {
	source, err := os.ReadFile("bounds.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	var look func(of reflect.Type)
	seen := map[reflect.Type]bool{}
	look = func(of reflect.Type) {
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, of.Kind()) {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			names[name] = true
			look(of.Field(i).Type)
		}
	}
	look(reflect.TypeFor[Summary]())
	for i, list := range strings.Split(string(source), "strings.Fields(`") {
		if i == 0 {
			continue
		}
		list, _, _ = strings.Cut(list, "`")
		for _, name := range strings.Fields(list) {
			if !names[name] {
				t.Errorf("no field has the name %q", name)
			}
		}
	}
}

// FuzzRead reads any text as a summary. What is accepted is within the bounds, and is read again
// as it is written.
func FuzzRead(f *testing.F) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		var out bytes.Buffer
		if err := Write(&out, randomSummary(rnd), ""); err != nil {
			f.Fatal(err)
		}
		f.Add(out.Bytes())
	}
	f.Add([]byte(`{"schema":"assay/summary/1","inputs":[{"path":"x"}],"kernels":[{"total_ns":4611686018427387903}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := Read(bytes.NewReader(in), "in")
		if err != nil {
			return
		}
		if err := newBounds(mostRead, false).Take(s); err != nil {
			t.Fatalf("accepted: %v", err)
		}
		var once, twice bytes.Buffer
		if err := Write(&once, s, ""); err != nil {
			t.Fatal(err)
		}
		if s, err = Read(bytes.NewReader(once.Bytes()), "once"); err != nil {
			t.Fatalf("the text cannot be read again: %v\n%s", err, once.Bytes())
		}
		if err := Write(&twice, s, ""); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Errorf("%s\nis written again as\n%s", once.Bytes(), twice.Bytes())
		}
	})
}
