package summary

import (
	"cmp"
	"slices"
)

// A Health is what a machine says of one of its parts: a GPU, a link, a port or the host. (Input, Node, Part, Property)
// is its key.
type Health struct {
	Input    int    `json:"input"`
	Rank     int    `json:"rank"`
	Node     string `json:"node,omitempty"`  // the host, where the input states it
	Part     string `json:"part"`            // "GPU 00000000:18:00.0", "GPU 3 link 5", "mlx5_0 port 1", "host"
	Property string `json:"property"`        // "gpu.vbios"
	Name     string `json:"name,omitempty"`  // of the tool, where several are one property: "tx_discards_phy"
	First    string `json:"first,omitempty"` // the first value; absent if all are equal
	Value    string `json:"value"`           // the last value
	Times    int64  `json:"times"`           // how often it was read
	Line     int64  `json:"line,omitempty"`  // of the last value
	At       string `json:"at,omitempty"`    // of the last value, local time: "2026-03-14 09:26:53", "Mar 14 09:26:53"
}

// Before returns the first value.
func (h *Health) Before() string { return cmp.Or(h.First, h.Value) }

func (h *Health) order(o *Health) int {
	return cmp.Or(cmp.Compare(h.Node, o.Node), cmp.Compare(h.Part, o.Part), cmp.Compare(h.Property, o.Property), cmp.Compare(h.Name, o.Name))
}

// Sampled is the number of values from which on a dump that is repeated is the record of a monitor.
const Sampled = 10

// OnlyMachines reports whether all that a summary has are single dumps of machines.
func (s *Summary) OnlyMachines() bool {
	others := len(s.Devices) + len(s.Tables) + len(s.Spans) + len(s.Snapshots) + len(s.MemoryTimelines) + len(s.Counters) + len(s.Groups) + len(s.Benchmarks)
	return len(s.Health) > 0 && others == 0 && !slices.ContainsFunc(s.Series, func(r Series) bool {
		return r.Producer != DumpProducer || r.Pooled == 0 && r.N >= Sampled
	})
}

// DumpProducer prints the state of GPUs, as values of a monitor and as properties of their health.
const DumpProducer = "nvidia-smi -q"
