// Package export writes traces in the Chrome JSON format, which Perfetto and
// chrome://tracing open: the events of several ranks as one trace ([Writer]), or a part of
// a trace as a trace of its own ([Part]).
//
// Events are copied one at a time, so the memory does not grow with the traces. When
// traces are joined, the numbers of processes, threads, flows, asynchronous spans and
// links between events are made unique. Times are shifted by the offset of each rank's
// clock and stay exact to the nanosecond. Every text passes through a function of the
// caller, which masks secrets.
//
// A trace of another format is first written as Chrome JSON by [WriteModel].
//
// For joined traces, read writer.go, copier.go and names.go. For a part of a trace, read
// choice.go (what is kept) and trim.go (how it is written). texts.go masks texts, and
// model.go has WriteModel.
package export
