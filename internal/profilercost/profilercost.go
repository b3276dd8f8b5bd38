// Package profilercost has what PyTorch's profiler takes from the host for each operator, annotated range and call that it
// records, by what it records of them.
//
// Two kinds of measurements on an H200 host with PyTorch 2.11 give the numbers: programs with and without the profiler
// (testdata/h200/pairs, testdata/capture/pairs.py; shapes, no stacks), and two programs with each of its options
// (testdata/h200/profiler_cost). docs/recording.md and docs/forecasts.md have both.
package profilercost

// A Cost is what recording an event of the host takes, in ns. The extremes are not those of all measurements: of programs
// with shapes, an eighth took less than the least, and a quarter more than the most.
type Cost struct{ Least, Usual, Most int64 }

// Slowdown is by how much the profiler made a step longer that the host limits, at most.
const Slowdown = 2

// The costs by what is recorded: nothing besides the times, memory, and shapes, FLOPs or stacks.
var (
	plain  = Cost{1000, 1300, 2000}
	memory = Cost{2000, 2800, 4000}
	shapes = Cost{2000, 2500, 5000}
	stacks = Cost{2000, 4000, 6000} // with the frames of Python, which are not counted as events
)

// Options are what a capture recorded of each event.
type Options struct{ Shapes, Memory, Stacks, Plain bool }

// OptionsOf returns the options that a trace names, by the settings of its profiler. It names those that are on only.
func OptionsOf(settings map[string]string) Options {
	on := func(key string) bool { v, ok := settings[key]; return ok && v != "0" }
	return Options{Shapes: on("record_shapes") || on("with_flops"), Memory: on("profile_memory"), Stacks: on("with_stack")}
}

// Of returns the cost with some options, those with shapes if none is known.
func Of(o Options) Cost {
	switch {
	case o.Stacks:
		return stacks
	case o.Shapes:
		return shapes
	case o.Memory:
		return memory
	case o.Plain:
		return plain
	}
	return shapes
}
