// Package advice has evidence and fixes that several subjects of judge share, so that the same
// cause is described in the same words wherever it is found.
//
// It takes rows of a summary and returns lines of evidence and steps: ids of remedies with their
// arguments. The text of a step, its source and its condition are in the entries of package rule;
// package finding has the types.
//
//   - advice.go: kernels, by their category and by what their names tell about tensor cores
//   - comm.go: communication, by its pattern (sharded parameters, replicas, tensor parallelism, experts)
//   - copies.go: copies and memsets, by direction and size
//   - owners.go: causes of idle time
//   - phases.go: phases of a training or RL step
//   - waits.go, names.go, why.go: ranks that wait for each other, how they are named, why one is late
//
// The package has no limits of rules. These decide whether there is a finding, and only a finding
// needs advice. Its own constants decide which of several fixes fits.
package advice
