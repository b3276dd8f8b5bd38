// Package hardware has the peaks of GPUs, and computes the roofline time, the bound and the
// utilization that follow from them.
//
// It takes the name and the properties of a device and returns [Peaks]: dense FLOP/s by type,
// bandwidths in bytes/s. peaks.go finds the peaks of a device in a [Catalog]: figures of the user,
// data sheets, or an estimate from the number of SMs and the clock, each with its source. devices.go
// reads the list of devices (builtin.go has the built-in file), figure.go the values of --set-peak,
// model.go the values of --model-flops and --tokens. roofline.go has the roofline and MFU.
// A device without known peaks has no roofline.
package hardware
