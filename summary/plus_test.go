package summary

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestPlus compares with arithmetic without limits.
func TestPlus(t *testing.T) {
	least, most := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	check := func(a, b int64) {
		t.Helper()
		sum := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
		if sum.Cmp(least) < 0 {
			sum = least
		}
		if sum.Cmp(most) > 0 {
			sum = most
		}
		if got := Plus(a, b); got != sum.Int64() {
			t.Errorf("Plus(%d, %d) is %d, want %d", a, b, got, sum)
		}
	}
	edge := []int64{math.MinInt64, math.MinInt64 + 1, math.MinInt64 / 2, -1, 0, 1, math.MaxInt64 / 2, math.MaxInt64 - 1, math.MaxInt64}
	for _, a := range edge {
		for _, b := range edge {
			check(a, b)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		check(int64(rnd.Uint64()), int64(rnd.Uint64()))
	}
}

// TestSumsStop: values of windows whose sum exceeds int64 stop at its limit,
// and none is negative.
func TestSumsStop(t *testing.T) {
	const most = math.MaxInt64
	a := Activity{0: most - 5, ClassCompute: 5}
	b := a.Plus(Activity{ClassComm: most, ClassComm | ClassCompute: most, ClassCopy: most}).Plus(a)
	for name, ns := range map[string]int64{
		"window": b.Window(), "idle": b.Idle(), "with comm": b.With(ClassComm), "compute": b.Compute(),
		"exposed comm": b.ExposedComm(), "exposed copies": b.ExposedCopy(),
	} {
		if ns != most {
			t.Errorf("%s is %d, want %d", name, ns, int64(most))
		}
	}
	if b.Busy() < 0 || b.HiddenComm() < 0 {
		t.Errorf("busy is %d, hidden communication %d", b.Busy(), b.HiddenComm())
	}
	var h Histogram
	h.Add(most)
	h.Add(most - 1)
	if h = h.Plus(h); h.TotalNS() != most || h.Count() != 4 || h.Buckets[0].TotalNS != most {
		t.Errorf("four durations of 292 years make %+v", h)
	}
	twice := Merge(&Summary{Issues: []Issue{{Code: "x", Count: most}}}, &Summary{Issues: []Issue{{Code: "x", Count: 2}}})
	if n := twice.Issues[0].Count; n != most {
		t.Errorf("issues count %d", n)
	}
}
