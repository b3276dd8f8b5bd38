// Package damage has kinds of damage that captures in Chrome trace JSON suffer: lost records, lost
// links, wrong times, repeated records. Tests apply each kind to captures whose verdict is known and
// check that no confident verdict differs from it where the file holds evidence of the damage.
//
// damage.go has the kinds, edits.go what they are made of.
package damage

import "fmt"

// A Kind is one kind of damage.
type Kind struct {
	Name string
	// Hidden: no file of this kind holds evidence, because a run could have written it. Such a verdict
	// is listed and fails no test.
	Hidden bool
	Apply  func(text []byte) []byte
}

// Kinds returns all kinds. Those with parameters are one kind for each value.
func Kinds() (out []Kind) {
	add := func(hidden bool, name string, apply func([]byte) []byte) {
		out = append(out, Kind{name, hidden, apply})
	}

	// Durations of GPU records.
	for _, f := range []float64{0.001, 0.01, 0.1, 10, 1000} {
		add(f == 0.1, fmt.Sprintf("all GPU durations times %v", f), edited(onGPU, scaled("dur", f)))
	}
	for _, n := range []int{1, 3, 10} {
		add(false, fmt.Sprintf("%d kernels half the capture long", n), longKernels(n))
	}
	for _, every := range []int{3, 10, 50} {
		add(false, fmt.Sprintf("no duration in every %d. kernel", every), edited(nth(kernels, every), set("dur", 0)))
		add(every == 50, fmt.Sprintf("no time at all in every %d. kernel", every), edited(nth(kernels, every), set("dur", 0), set("ts", 0)))
		add(false, fmt.Sprintf("negative duration in every %d. kernel", every), edited(nth(kernels, every), scaled("dur", -1)))
	}

	// Times of GPU records.
	for _, us := range []float64{-12, 12, 1000, -1e6, 3.6e9} {
		add(us == 12, fmt.Sprintf("GPU clock off by %v us", us), edited(onGPU, shifted("ts", us)))
	}
	add(false, "GPU times in ms", edited(onGPU, scaled("ts", 0.001), scaled("dur", 0.001)))
	add(false, "GPU clock that gains 1%", edited(onGPU, scaled("ts", 1.01)))

	// Lost records.
	for _, every := range []int{2, 5, 20} {
		add(every == 20, fmt.Sprintf("every %d. kernel lost", every), edited(nth(kernels, every), drop))
		add(false, fmt.Sprintf("every %d. launch lost", every), edited(nth(launches, every), drop))
	}
	add(false, "all kernels lost", edited(kernels, drop))
	add(false, "all launches lost", edited(launches, drop))
	add(true, "all copies and their calls lost", edited(copies, drop))
	add(true, "all operators lost", edited(operators, drop))
	add(false, "kernels of the last half lost", lostBetween(kernels, 0.5, 1))
	add(false, "kernels of the first half lost", lostBetween(kernels, 0, 0.5))
	add(false, "kernels and calls of the middle third lost", lostBetween(gpuAndCalls, 1.0/3, 2.0/3))
	add(false, "longest twentieth of the kernels lost", lostByLength(0.95, true))
	add(false, "shortest half of the kernels lost", lostByLength(0.5, false))
	add(false, "communication kernels lost", edited(communication, drop))

	// Lost links and identities.
	add(false, "correlation 0 in all kernels", edited(kernels, arg("correlation", 0)))
	add(false, "correlation 0 in communication kernels", edited(communication, arg("correlation", 0)))
	add(false, "correlations of kernels shifted", edited(kernels, argPlus("correlation", 1_000_000)))
	add(true, "no External ids", edited(everything, withoutArg("External id")))
	add(false, "one stream number for all", edited(onGPU, arg("stream", 7), set("tid", 7)))
	add(true, "process numbers replaced by a text", edited(everything, set("pid", "trace_0.json")))

	// Repeated records.
	add(false, "each kernel twice", edited(kernels, twice(0)))
	add(false, "each kernel twice, 1 ns apart", edited(kernels, twice(0.001)))
	add(false, "every 5. kernel twice", edited(nth(kernels, 5), twice(0)))
	add(false, "two captures with the same ids in one file", joined(100))
	add(false, "two captures with the same ids and times in one file", joined(0.25))
	return out
}
