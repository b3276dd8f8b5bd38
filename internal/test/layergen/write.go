package layergen

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// json writes the events as the profiler of PyTorch does.
func (s *sim) json() []byte {
	device, gpu := "NVIDIA H100 80GB HBM3", "\"computeMajor\": 9, \"computeMinor\": 0, \"warpSize\": 32, \"numSms\": 132"
	if s.AMD {
		device, gpu = "AMD Instinct MI300X", "\"computeMajor\": 9, \"computeMinor\": 4, \"warpSize\": 64, \"numSms\": 304"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [{\"id\": 0, \"name\": %q, \"totalGlobalMem\": 84929347584, %s}],\n", device, gpu)
	if s.Ranks > 1 {
		fmt.Fprintf(&b, "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, \"world_size\": %d, \"pg_count\": 1},\n", s.Rank, s.Ranks)
	}
	b.WriteString("  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": 1761410836000000000,\n  \"traceEvents\": [\n")
	slices.SortStableFunc(s.events, func(x, y event) int { return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(y.dur, x.dur)) })
	for _, e := range s.events {
		fmt.Fprintf(&b, "  {\"ph\": \"X\", \"cat\": %q, \"name\": %q, \"pid\": %d, \"tid\": %d, \"ts\": %s, \"dur\": %s, \"args\": {%s}},\n",
			e.cat, e.name, e.pid, e.tid, micros(e.start), micros(e.dur), e.args)
	}
	fmt.Fprintf(&b, "  {\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0, \"pid\": %d, \"tid\": 0, \"args\": {\"name\": \"python\"}},\n", hostPid)
	fmt.Fprintf(&b, "  {\"name\": \"process_labels\", \"ph\": \"M\", \"ts\": 0, \"pid\": 0, \"tid\": 0, \"args\": {\"labels\": \"GPU 0\"}}\n  ],\n")
	b.WriteString("  \"traceName\": \"trace.json\"\n}\n")
	return b.Bytes()
}

func micros(ns int64) string { return fmt.Sprintf("%d.%03d", ns/1000, ns%1000) }
