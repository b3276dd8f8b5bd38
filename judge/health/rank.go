package health

import (
	"strings"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// OfGPU says what is wrong with a GPU of a trace: "thermal slowdown active (91 C, SM 1200 MHz of 1980 MHz)". It is empty
// unless the dumps certainly describe this GPU.
func OfGPU(s *summary.Summary, gpu summary.GPU) (out []string) {
	if len(s.Health) == 0 || gpu.Input < 0 || gpu.Input >= len(s.Inputs) {
		return nil
	}
	m := machineOf(s)
	node, traces, ok := m.nodeOfTrace(s, gpu)
	if !ok || !m.hasNumbersOf(node, traces, gpu.Device) {
		return nil
	}
	for _, f := range faults(m) {
		of, _, _ := strings.Cut(f.part, " link ")
		if n, ok := gpuNumber(of); ok && n == gpu.Device && f.node == node && !f.past && f.level() > finding.Info {
			out = append(out, m.says(&f))
		}
	}
	return out[:min(3, len(out))]
}

// nodeOfTrace returns the node on which a trace was recorded, and the GPUs of all traces of this node. The node is that
// of the dumps in the folder of the trace, or the only one of all dumps.
func (m *machine) nodeOfTrace(s *summary.Summary, gpu summary.GPU) (node string, traces []summary.Device, ok bool) {
	nodes, folder := nodesOf(s), folderOf(s, gpu.Input)
	n := 0
	for _, v := range m.values {
		if folderOf(s, v.input) == folder && (n == 0 || nodes[v.input] != node) {
			node = nodes[v.input]
			n++
		}
	}
	for _, d := range s.Devices {
		if folderOf(s, d.Input) == folder {
			traces = append(traces, d)
		}
	}
	if n == 1 && len(traces) < len(s.Devices) { // one folder for all is no sign of a node
		return node, traces, true
	}
	if len(m.nodes) != 1 {
		return "", nil, false
	}
	return m.nodes[0], s.Devices, true
}

// hasNumbersOf reports whether the traces of a node number GPUs as its dumps do, so that device is the same GPU in both.
// A process that sees some of the GPUs counts those from 0: then two ranks have one number, or GPUs work that no
// trace has.
func (m *machine) hasNumbersOf(node string, traces []summary.Device, device int64) bool {
	ranks := map[int64]int{}
	for _, d := range traces {
		if rank, ok := ranks[d.Device]; ok && rank != d.Rank {
			return false
		}
		ranks[d.Device] = d.Rank
	}
	known, busy := map[int64]bool{}, map[int64]bool{}
	for _, v := range m.values {
		if n, ok := gpuNumber(v.part); ok && v.node == node {
			known[n] = true
			if used, ok := number(v.last()); ok && used > 0 && v.property == "gpu.util" {
				busy[n] = true
			}
		}
	}
	if len(busy) == 0 { // the dump is of another time than the work
		busy = known
	}
	for n := range busy {
		if _, ok := ranks[n]; !ok {
			return false
		}
	}
	return busy[device]
}

// Links says what is wrong with links and ports, at most three of them.
func Links(s *summary.Summary) (out []string) {
	if len(s.Health) == 0 {
		return nil
	}
	m := machineOf(s)
	for _, f := range faults(m) {
		if f.property.rule == rule.LinkFault && !f.past && f.level() > finding.Info && len(out) < 3 {
			out = append(out, m.names([]fault{f})+": "+m.says(&f))
		}
	}
	return out
}
