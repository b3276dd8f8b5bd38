package blind

import (
	"bytes"
	"fmt"
	"slices"
)

// JSON returns the trace as the profiler of PyTorch writes it.
func (s *Sim) JSON() []byte {
	var b bytes.Buffer
	b.WriteString("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\", ")
	b.WriteString("\"totalGlobalMem\": 84929347584, \"computeMajor\": 9, \"computeMinor\": 0, \"warpSize\": 32, \"numSms\": 132}\n  ],\n")
	if s.Ranks > 1 {
		fmt.Fprintf(&b, "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, \"world_size\": %d, \"pg_count\": 1},\n", s.Rank, s.Ranks)
	}
	b.WriteString("  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": 1751410836000000000,\n  \"traceEvents\": [\n")
	events := slices.Clone(s.events)
	slices.SortStableFunc(events, func(x, y event) int { return int(min(max(x.start-y.start, -1), 1)) })
	for _, e := range events {
		fmt.Fprintf(&b, "  {\"ph\": \"X\", \"cat\": %q, \"name\": %q, \"pid\": %d, \"tid\": %d, \"ts\": %s, \"dur\": %s, \"args\": {%s}},\n",
			e.cat, e.name, e.pid, e.tid, micros(s.factor*e.start), micros(s.factor*e.dur), e.args)
		if e.gpu {
			fmt.Fprintf(&b, "  {\"ph\": \"f\", \"id\": %d, \"pid\": %d, \"tid\": %d, \"ts\": %s, \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"},\n", e.corr, e.pid, e.tid, micros(s.factor*e.start))
		} else if e.corr > 0 {
			fmt.Fprintf(&b, "  {\"ph\": \"s\", \"id\": %d, \"pid\": %d, \"tid\": %d, \"ts\": %s, \"cat\": \"ac2g\", \"name\": \"ac2g\"},\n", e.corr, e.pid, e.tid, micros(s.factor*e.start))
		}
	}
	fmt.Fprintf(&b, "  {\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0, \"pid\": %d, \"tid\": 0, \"args\": {\"name\": \"python\"}},\n", hostPid)
	fmt.Fprintf(&b, "  {\"name\": \"process_labels\", \"ph\": \"M\", \"ts\": 0, \"pid\": 0, \"tid\": 0, \"args\": {\"labels\": \"GPU 0\"}},\n")
	fmt.Fprintf(&b, "  {\"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\", \"pid\": \"\", \"tid\": \"\", \"ts\": %s}\n  ],\n", micros(s.factor*(max(s.now, s.idle())+ms)))
	b.WriteString("  \"traceName\": \"trace.json\"\n}\n")
	return b.Bytes()
}

func micros(ns int64) string { return fmt.Sprintf("%d.%03d", ns/1000, ns%1000) }

// Parts is the window of the GPU, cut by what runs: compute hides
// communication, and both hide copies.
type Parts struct{ Window, Compute, Comm, Copies, Idle int64 }

// Parts counts edge by edge what runs between them.
func (s *Sim) Parts() Parts {
	type edge struct {
		at int64
		by int
		c  class
	}
	var edges []edge
	for _, e := range s.events {
		if e.gpu && e.dur > 0 {
			edges = append(edges, edge{e.start, 1, e.class}, edge{e.start + e.dur, -1, e.class})
		}
	}
	slices.SortFunc(edges, func(x, y edge) int { return int(min(max(x.at-y.at, -1), 1)) })
	var p Parts
	var running [4]int
	for i, e := range edges {
		if i > 0 {
			d := e.at - edges[i-1].at
			p.Window += d
			switch {
			case running[compute] > 0:
				p.Compute += d
			case running[comm] > 0:
				p.Comm += d
			case running[copying] > 0:
				p.Copies += d
			default:
				p.Idle += d
			}
		}
		running[e.c] += e.by
	}
	return p
}
