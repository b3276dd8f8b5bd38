// Package xplane reads XSpace files (*.xplane.pb), in which the profiler of XLA keeps what JAX, TensorFlow and
// PyTorch/XLA ran on GPUs.
//
// A file consists of planes: one for each device, one for the host. A plane has lines (streams, threads) of events. Only
// the lines of streams are work: others of a device repeat it by step, module or operator. Names and properties are
// numbers, which the plane resolves after its lines, so a plane is kept until it ends.
//
// Start with xplane.go (the file and its planes); plane.go decodes one, work.go and host.go make rows of it.
package xplane
