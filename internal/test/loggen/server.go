package loggen

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Line is what a server logs at one time.
type Line struct {
	Second  int  // since the start
	Prefill bool // SGLang: a prefill batch, else a decode batch
	Running int
	Queued  int
	Usage   float64 // of the KV cache, 0 to 1
	Tokens  float64 // generated per second
	Prompt  float64 // vLLM: prompt tokens per second; SGLang: new prompt tokens of a prefill batch
	Cached  int     // SGLang: prompt tokens of a prefill batch that were in the cache; vLLM: hit rate in percent

	Preempted int
	Transfer  int    // SGLang's decode servers; negative of servers that are none
	Eager     bool   // without CUDA graph
	Pools     string // SGLang's decode: usages of further pools, "mamba usage: 0.99, "
}

// A Server is one replica or several.
type Server struct {
	Replicas [][]Line
	Noise    Noise
}

// Each returns a server of one replica that logs n lines at equal distances in seconds.
func Each(n, apart int, line func(i int) Line) Server {
	return Server{Replicas: [][]Line{Lines(n, apart, line)}}
}

// Lines returns n lines at equal distances in seconds. They are of no decode server
// unless they have Transfer.
func Lines(n, apart int, line func(i int) Line) (out []Line) {
	for i := range n {
		l := line(i)
		l.Second = i * apart
		out = append(out, l)
	}
	return out
}

// ShareOfTime returns the share of the time between the first and the last line of a replica
// for which is holds, by the line at the start of each interval. Lines must be at
// equal distances.
func ShareOfTime(lines []Line, is func(Line) bool) float64 {
	n := 0
	for _, l := range lines[:len(lines)-1] {
		if is(l) {
			n++
		}
	}
	return float64(n) / float64(len(lines)-1)
}

// VLLM returns the log of vLLM's engines.
func (s Server) VLLM() string {
	return s.write(func(replica int, l Line) string {
		preempted := ""
		if l.Preempted > 0 {
			preempted = fmt.Sprintf("Preemptions: %d, ", l.Preempted)
		}
		head := fmt.Sprintf("INFO %s [loggers.py:122] Engine %03d: ", at(l.Second).Format("01-02 15:04:05"), replica)
		rates := fmt.Sprintf("Avg prompt throughput: %.1f tokens/s, Avg generation throughput: %.1f tokens/s, ", l.Prompt, l.Tokens)
		return head + rates + fmt.Sprintf("Running: %d reqs, Waiting: %d reqs, %sGPU KV cache usage: %.1f%%, Prefix cache hit rate: %d.0%%",
			l.Running, l.Queued, preempted, 100*l.Usage, l.Cached)
	})
}

// SGLang returns the log of SGLang's schedulers.
func (s Server) SGLang() string {
	return s.write(func(replica int, l Line) string {
		head := fmt.Sprintf("[%s DP%d TP0] ", at(l.Second).Format("2006-01-02 15:04:05"), replica)
		if l.Prefill {
			return head + fmt.Sprintf("Prefill batch, #new-seq: 1, #new-token: %.0f, #cached-token: %d, token usage: %.2f, #running-req: %d, #queue-req: %d, ",
				l.Prompt, l.Cached, l.Usage, l.Running, l.Queued)
		}
		decode := ""
		if l.Transfer > 0 || l.Preempted > 0 {
			decode = fmt.Sprintf("pre-allocated usage: 0.02, #prealloc-req: 0, #transfer-req: %d, #retracted-req: %d, ", l.Transfer, l.Preempted)
		}
		graph := "True"
		if l.Eager {
			graph = "False"
		}
		return head + fmt.Sprintf("Decode batch, #running-req: %d, #token: %d, token usage: %.2f, %scuda graph: %s, gen throughput (token/s): %.2f, #queue-req: %d, ",
			l.Running, 500*l.Running, l.Usage, l.Pools+decode, graph, l.Tokens, l.Queued)
	})
}

func at(second int) time.Time { return origin.Add(time.Duration(second) * time.Second) }

// write writes the lines of all replicas by time.
func (s Server) write(text func(replica int, l Line) string) string {
	type entry struct {
		second int
		line   string
	}
	var list []entry
	for i, lines := range s.Replicas {
		for _, l := range lines {
			list = append(list, entry{l.Second, text(i, l)})
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return a.second - b.second })
	var b strings.Builder
	for i, e := range list {
		s.Noise.write(&b, i, e.line)
	}
	return b.String()
}
