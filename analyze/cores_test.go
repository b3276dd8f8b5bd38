package analyze_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test/tracegen"
)

// TestCoresAndBlocks: the measurements do not depend on the number of cores, nor on where the
// blocks of the input end that are read at once. Spaces between the events move these places,
// and events out of order have many parts that must be merged.
func TestCoresAndBlocks(t *testing.T) {
	var b bytes.Buffer
	if _, err := tracegen.Generate(&b, tracegen.Big(2<<20), 0); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	events := eventsOf(t, b.Bytes())
	want := summed(t, b.Bytes())
	if len(want.Ops) == 0 || len(want.Idle) == 0 || len(want.Steps) == 0 || len(want.Launches) == 0 {
		t.Fatal("the trace has too little in it")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cores)
		for _, most := range []int{0, 50, 300} {
			moved := slices.Clone(events)
			if most == 50 {
				moved = shuffled(t, rnd, moved)
			}
			for i := range moved {
				moved[i] = append(bytes.Repeat([]byte(" "), rnd.IntN(most+1)), moved[i]...)
			}
			if got := summed(t, withEvents(t, b.Bytes(), moved)); !reflect.DeepEqual(got, want) {
				t.Fatalf("%d cores, up to %d spaces: as it was(-) moved(+)\n%s", cores, most, cmp.Diff(want, got))
			}
		}
	}
}
