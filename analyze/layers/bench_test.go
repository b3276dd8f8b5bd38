package layers

import (
	"testing"
	"time"
)

// program returns the kernels of a step of a model with n layers: an embedding, layers of eight kernels, a norm and the head.
func program(n int) (out []kernel) {
	add := func(token int32, r role) { out = append(out, kernel{token: token, nature: nature{role: r}}) }
	add(100, stop)
	for range n {
		for i, r := range []role{norm, product, plain, attends, product, norm, product, product} {
			add(int32(i), r)
		}
	}
	add(0, norm)
	add(101, product)
	add(102, stop)
	for i := range out {
		out[i].work = int32(i)
	}
	out[0].first = true
	return out
}

// TestLinear: the layers of a million kernels take less than 0.3 s. The limit leaves room for slow machines.
func TestLinear(t *testing.T) {
	var list []kernel
	for len(list) < 1e6 {
		list = append(list, program(48)...)
	}
	start := time.Now()
	layers := newFinder(list).find()
	took := time.Since(start)
	if want := 48 * (len(list) / len(program(48))); len(layers) != want {
		t.Errorf("got %d layers, want %d", len(layers), want)
	}
	if took > 2*time.Second {
		t.Errorf("%d kernels took %v", len(list), took)
	}
	t.Log(len(list), "kernels:", took)
}
