// Package logs has the sections on values over steps or time: what trainers, servers and monitors
// logged, and results of benchmarks.
//
// It takes the series, benchmarks, groups of ranks and monitored rows of a summary. logs.go has the
// metrics and the phases of a step, replicas.go several logs of one server, monitored.go what monitors
// measured during steps and phases and how clocks were aligned, bench.go results of benchmarks and
// sweeps, and groups.go communicators and hanging calls.
//
// Each row is printed in its own unit, because one table mixes seconds, tokens per second and bytes.
// judge/logs has the findings on the same values.
package logs
