package advice

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// drawn returns a text of up to six of the parts.
func drawn(rnd *rand.Rand, parts []string) string {
	var b strings.Builder
	for range rnd.IntN(7) {
		b.WriteString(parts[rnd.IntN(len(parts))])
	}
	return b.String()
}

// TestIsWait: the quick look at a name agrees with the expression alone.
func TestIsWait(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 5))
	files := []string{"", "/", "threading", "queue", "x/selectors", "socket", "multiprocessing/", "connection", "concurrent/futures/", "_base", "asyncio/", "base_events", "/zmq/", "sugar", "ray/_private/worker", "distributed_c10d", "torch/nn", "Gloo:", "gloo:"}
	ends := []string{".py(12): ", ".py(1):", ": ", "(3): ", "", "<Built-in function ", "<built-in method ", "<built-in method ſ"}
	names := []string{"wait", "get", "join", "Acquire", "select", "poll", "_poll", "epoll", "recv", "recv_into", "_recv_bytes", "result", "accept", "run_until_complete", "run_forever", "_run_once", "barrier", "monitored_barrier", "all_gather_object", "_object_to_tensor", "sleep", "ſleep", "forward", " of type", "x", "\n", "K"}
	all := slices.Concat(files, ends, names)
	found := 0
	for range 20_000 {
		name := ""
		if rnd.IntN(4) == 0 {
			name = drawn(rnd, all)
		} else {
			name = files[rnd.IntN(len(files))] + files[rnd.IntN(len(files))] + ends[rnd.IntN(len(ends))] + names[rnd.IntN(len(names))]
		}
		want := waits().MatchString(name)
		if got := IsWait(name); got != want {
			t.Fatalf("%q: %v, want %v", name, got, want)
		}
		if want {
			found++
		}
	}
	if found < 200 {
		t.Errorf("only %d names are waits", found)
	}
}

// TestIsProductOfVector compares it with the search of each part in small letters.
func TestIsProductOfVector(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 9))
	parts := slices.Concat(vectorKernelParts, []string{"GEMV2T", "Mat_Vec", "wvSplitK", "wvSplit", "LLMM", "1", "mat", "vec", "g", "ge", "ww", "mv", "_", "(", "é", "\xff", "Gem", "v"})
	for range 100_000 {
		name := drawn(rnd, parts)
		lower := strings.ToLower(name)
		want := slices.ContainsFunc(vectorKernelParts, func(part string) bool { return strings.Contains(lower, part) })
		if got := IsProductOfVector(name); got != want {
			t.Fatalf("%q: %v, want %v", name, got, want)
		}
	}
}
