// Package phases compares the steps of two runs on the host, and the phases in them: generation,
// training, weight sync. Steps of traces and of logs have the same phases, so a trace can be
// compared with a log.
//
// [Compare] takes the runs of two sides; [Of] returns the mean step of one side. The rows of a
// comparison sum to the step. Time outside phases is a row of its own, which is negative if phases
// overlap. Sums are divided by the number of steps, and remainders are carried to the next row.
//
// If both logs have steps with the same numbers, only these are compared, because the work of a
// step can depend on how far training is.
package phases
