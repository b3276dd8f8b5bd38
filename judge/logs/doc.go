// Package logs judges what trainers and servers logged: phases and steps of trainers, queues and
// caches of inference servers, results of benchmarks, and what monitors measured at the same time.
// It sees statistics and bounded strips of values, not the lines of a log.
//
// [Evaluator.Rules] returns the rules. [Evaluator.Judge] gives the verdict if the inputs have no
// captures of a profiler; otherwise logs add findings to the verdict of another subject.
//
// Each input is judged by itself, and each replica of a server too. A finding is about the one with
// the largest value. Shares of requests are weighted by time if the log has times, because log
// lines are not equally spaced.
//
//   - logs.go: inputs, the list of rules, the verdict
//   - phases.go: phases of reinforcement learning and communication timers of trainers
//   - steps.go, trend.go: slow, periodic, uneven and growing steps; restarts
//   - replicas.go, servers.go, uneven.go: queues, KV cache and prefill of servers
//   - health.go: utilization, memory, losses that are not finite
//   - monitored.go: use of the GPUs during a log
//   - targets.go, headline.go: results of benchmarks
//   - hang.go: calls that not all ranks made
package logs
