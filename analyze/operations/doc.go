// Package operations answers what slow workers cost in a timeline of the operations of a training
// job: forward and backward passes of each micro-batch, sends and receives between the stages of the
// pipeline, collectives between its replicas. There is one process for each data-parallel rank and a
// thread for each kind of operation of a stage, as programs write it that export the timers of
// Megatron-LM. There is no GPU work and there are no calls in it, so it has no critical path as other traces have.
//
// [Of] finds the operations of each step and what each waits for (graph.go); [Job.Answer] replays the
// steps with other durations (replay.go). The measures are those that ByteDance published for such
// timelines: the slowdown is the length of the steps against that with typical durations, the mean of
// computations and the median of communication of the same name; a part is what is left of it if
// only the operations of one worker, stage, rank or name take as long as recorded.
//
// [NegotiationsOf] answers for Horovod's timelines which ranks others wait for.
package operations
