// Package efficiency has the sections on FLOPs, bytes and rooflines: how much of the GPU's peaks a run
// uses, and which operators could be faster.
//
// It takes the sums of package view/efficiency and returns sections. Every share names its
// denominator, and a sentence states how much of the GPU time is covered, because FLOPs are unknown
// for operators without input shapes.
//
// efficiency.go has the main section: coverage, MFU with its formula, and the operators with the most
// recoverable time. headline.go has the one-line form for the screen and the page. detail.go has
// tables of GPUs, steps, transfers and unknown time; decode.go decode steps of servers; graphs.go
// replays of CUDA graphs; counted.go the comparison with hardware counters; logged.go the throughput
// of logs; given.go MFU of model FLOPs that the user gave; remarks.go settings that would make
// operators faster.
//
// Nothing here is a finding: the verdict is the same whether efficiency was measured or not.
package efficiency
