// Package nsysstats computes the reports of nsys stats from a trace of any profiler. Columns, units,
// decimals and the order of rows are the same, so that programs that read the reports of Nsight
// Systems can read these.
//
// nsysstats.go has the list of reports ([Names], [Tables]). Each family has a file: device.go kernels
// and memory operations, calls.go calls of the runtime, driver and operating system, execution.go
// launch to execution, ranges.go NVTX ranges, project.go ranges projected onto the GPU, overlap.go the
// same for ranges that do not nest. sample.go computes the statistics and numbers.go formats them.
//
// The cells of a [Table] are text, because the number of decimals is part of the format. Package
// report/nsystables writes tables as text, CSV or Markdown.
package nsysstats
