// Package efficiency compares how close the operators of two runs come to the peaks of their GPUs.
//
// [Of] takes the summaries of both sides and returns their FLOPs, bytes and rooflines over all
// GPUs, MFU and HFU, and the operators that both sides have with the same inputs, by their effect
// on the run. Runs on different GPUs, or measured against different peaks, are not compared: their
// utilization would differ although the operators do the same.
package efficiency
