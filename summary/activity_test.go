package summary

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestActivityFigures gives each cell a different power of two, so that a value
// shows which cells it includes.
func TestActivityFigures(t *testing.T) {
	const comm, comp, cpy, set = ClassComm, ClassCompute, ClassCopy, ClassMemset
	var a Activity
	for c := range a {
		a[c] = 1 << c
	}
	of := func(sets ...Class) (n int64) {
		for _, s := range sets {
			n += 1 << s
		}
		return n
	}
	for _, tc := range []struct {
		name      string
		got, want int64
	}{
		{"Window", a.Window(), 1<<16 - 1},
		{"Idle", a.Idle(), of(0)},
		{"Busy", a.Busy(), 1<<16 - 2},
		{"Compute", a.Compute(), of(comp, comp|comm, comp|cpy, comp|set, comp|comm|cpy, comp|comm|set, comp|cpy|set, comp|comm|cpy|set)},
		{"ExposedComm", a.ExposedComm(), of(comm, comm|cpy, comm|set, comm|cpy|set)},
		{"ExposedCopy", a.ExposedCopy(), of(cpy, set, cpy|set)},
		{"HiddenComm", a.HiddenComm(), of(comm|comp, comm|comp|cpy, comm|comp|set, comm|comp|cpy|set)},
		{"With memset", a.With(set), of(set, set|cpy, set|comm, set|comp, set|cpy|comm, set|cpy|comp, set|comm|comp, set|cpy|comm|comp)},
		{"Without", a.Without(set, cpy|comm), of(set, set|comp)},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: cells %016b, want %016b", tc.name, tc.got, tc.want)
		}
	}
}

// TestActivityAddsUp checks the sum that every report relies on.
func TestActivityAddsUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		a, b := randomActivity(rnd), randomActivity(rnd)
		if sum := a.Compute() + a.ExposedComm() + a.ExposedCopy() + a.Idle(); sum != a.Window() {
			t.Fatalf("parts of %v sum to %d, window is %d", a, sum, a.Window())
		}
		if a.Plus(b) != b.Plus(a) || a.Plus(b).Window() != a.Window()+b.Window() || a.Plus(Activity{}) != a {
			t.Fatalf("%v and %v do not add up", a, b)
		}
	}
}

func TestActivityJSON(t *testing.T) {
	a := Activity{0: 5, ClassComm | ClassCompute: 7}
	text, err := json.Marshal(a)
	if want := `[{"classes":[],"ns":5},{"classes":["comm","compute"],"ns":7}]`; err != nil || string(text) != want {
		t.Errorf("got  %s, %v\nwant %s", text, err, want)
	}
	if text, err := json.Marshal(Activity{}); err != nil || string(text) != "[]" {
		t.Errorf("the empty activity is %s, %v", text, err)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		want := randomActivity(rnd)
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := Activity{1, 2, 3} // earlier content must be removed
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Fatalf("%s reads as %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		`[{"classes":["gemm"],"ns":1}]`: `activity: unknown class "gemm"`,
		`{"idle":1}`:                    `json: cannot unmarshal object into Go value of type []summary.cell`,
	} {
		var a Activity
		if err := json.Unmarshal([]byte(text), &a); err == nil || err.Error() != want {
			t.Errorf("%s: got error %v, want %s", text, err, want)
		}
	}
}

func TestClassNames(t *testing.T) {
	for c, want := range map[Class]string{
		0: "idle", ClassComm: "comm", ClassCompute: "compute", ClassCopy: "copy", ClassMemset: "memset",
		ClassMemset | ClassComm | ClassCopy: "comm+copy+memset",
	} {
		if got := c.String(); got != want {
			t.Errorf("class %04b is %q, want %q", c, got, want)
		}
	}
	var all []string
	for _, c := range Singles() {
		name := c.Names()[0]
		if back, ok := ClassOf(name); !ok || back != c {
			t.Errorf("%q is class %04b, %v, want %04b", name, back, ok, c)
		}
		all = append(all, name)
	}
	if !slices.IsSorted(all) {
		t.Errorf("classes are not in the order of their names: %v", all)
	}
	if c, ok := ClassOf("idle"); ok {
		t.Errorf("idle is class %04b; it is the lack of one", c)
	}
}

func randomActivity(rnd *rand.Rand) (a Activity) {
	for range rnd.IntN(6) {
		a[rnd.IntN(len(a))] = rnd.Int64N(1_000_000)
	}
	return a
}
