// Package export writes traces in the Chrome JSON format, which Perfetto and
// chrome://tracing open: the events of several ranks as one trace ([Writer]), or a part of
// a trace as a trace of its own ([Part]).
//
// Events are copied one at a time, so the memory does not grow with the traces. What
// identifies something within one trace is made unique: processes, threads, flows,
// asynchronous spans, and the numbers by which profilers link events. Times are moved
// by the offset of each rank's clock and stay exact to the nanosecond. Every text passes
// through a function of the caller, which masks secrets.
//
// A trace whose format is not Chrome JSON is first written as such by [WriteModel].
package export
