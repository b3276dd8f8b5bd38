package summary

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestBudget: the parts in the JSON sum to the window, and the budget is not
// read back.
func TestBudget(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a := randomActivity(rnd)
		for _, tc := range []struct {
			row    any
			window string
		}{
			{Device{Activity: a, WindowNS: a.Window()}, "window_ns"},
			{Step{Activity: a, WallNS: a.Window()}, "wall_ns"},
		} {
			b, err := json.Marshal(tc.row)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				WindowNS *int64           `json:"window_ns"`
				WallNS   *int64           `json:"wall_ns"`
				Budget   map[string]int64 `json:"budget"`
			}
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			window := got.WindowNS
			if tc.window == "wall_ns" {
				window = got.WallNS
			}
			sum := int64(0)
			for _, part := range []string{"compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns"} {
				ns, ok := got.Budget[part]
				if !ok || ns < 0 {
					t.Fatalf("%s: budget has no usable %s", b, part)
				}
				sum += ns
			}
			if window == nil || sum != *window || len(got.Budget) != 4 {
				t.Fatalf("%s: the budget sums to %d", b, sum)
			}
		}
	}
}

// TestBudgetFigures gives each part a different length, and checks that a
// budget in the input that contradicts the cells is ignored.
func TestBudgetFigures(t *testing.T) {
	d := Device{WindowNS: 1111, Activity: Activity{0: 1, ClassCopy | ClassMemset: 10, ClassComm | ClassCopy: 100, ClassComm | ClassCompute: 1000}}
	b, err := json.Marshal(d)
	want := `"budget":{"compute_ns":1000,"exposed_comm_ns":100,"exposed_copy_ns":10,"idle_ns":1}`
	if err != nil || strings.Count(string(b), want) != 1 {
		t.Errorf("got %s, %v, want it to hold %s", b, err, want)
	}
	b = []byte(strings.Replace(string(b), `"idle_ns":1`, `"idle_ns":77`, 1))
	var back Device
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, d) {
		t.Errorf("%s reads as %+v, %v", b, back, err)
	}
}

func TestEmptyHistogramJSON(t *testing.T) {
	for _, h := range []Histogram{{}, {Buckets: []Bucket{}}} {
		b, err := json.Marshal(h)
		if err != nil || string(b) != `{"buckets":[]}` {
			t.Errorf("got %s, %v", b, err)
		}
	}
	for _, text := range []string{`{"buckets":[]}`, `{"buckets":null}`} {
		back := Histogram{Buckets: []Bucket{{FromNS: 10, Count: 1}}}
		if err := json.Unmarshal([]byte(text), &back); err != nil || back.Buckets != nil {
			t.Errorf("%s reads as %+v, %v, want the zero histogram", text, back, err)
		}
	}
}
