// Package samples joins the samples of a sampler of CPU code with the trace of the same run: idle time of GPUs that
// waits for code which the trace does not record gets the functions of the samples.
//
// A sampler states no clock that a trace has. [Align] finds the offset of the two clocks: at the right one the functions
// of the samples tell most about what the launching thread does in the trace. It needs no names. Offsets that are found
// by chance are recognized with clocks of a wrong rate, at which no offset is right. [Fill] divides the idle time.
//
// capture.go has what a trace must record for this, align.go the offset, shares.go the functions, fill.go the rows.
package samples
