package limits

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"assay/summary"
)

// TestKeepLargest: what is kept is the beginning of the sorted rows, and rows are
// not copied to compare them: there may be a million of several hundred bytes.
func TestKeepLargest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	rows := make([]summary.Annotation, 5000)
	for i := range rows {
		rows[i] = summary.Annotation{Name: fmt.Sprint("n", r.IntN(1000)), GPUTotalNS: r.Int64N(50), Count: int64(i)}
	}
	want := slices.Clone(rows)
	slices.SortStableFunc(want, func(a, b summary.Annotation) int {
		return cmp.Or(cmp.Compare(b.GPUTotalNS, a.GPUTotalNS), cmp.Compare(a.Name, b.Name))
	})
	weight := func(a *summary.Annotation) (int64, string) { return a.GPUTotalNS, a.Name }
	budget := NewBudget(700)
	if got := KeepLargest(budget, slices.Clone(rows), weight); !reflect.DeepEqual(got, want[:700]) || budget.attributed != 4300 {
		t.Errorf("%d left out, %d kept", budget.attributed, len(got))
	}
	if n := testing.AllocsPerRun(3, func() { KeepLargest(budget, rows, weight) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}
