// Package xplane reads the two forms of a capture of XLA's profiler, which records what JAX, TensorFlow and PyTorch/XLA ran
// on GPUs and TPUs: XSpace files (*.xplane.pb), and the Chrome traces that it writes of them (*.trace.json.gz).
//
// A file consists of planes: one for each device, one for the host. A plane has lines (streams, threads) of events. Only
// the lines of streams are work: others of a device repeat it by step, module or operator. Names and properties are
// numbers, which the plane resolves after its lines, so a plane is kept until it ends.
//
// Start with xplane.go (the file and its planes); plane.go decodes one. json.go reads the Chrome trace. Both hand events to
// the lanes of part.go; work.go, tpu.go and host.go make rows of them.
package xplane
