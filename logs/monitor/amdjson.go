package monitor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
	"assay/logs"
)

// reAMD is the beginning of the JSON of amd-smi: a list of GPUs, which newer versions have in
// the member gpu_data. A time precedes the GPU if it is recorded repeatedly.
var reAMD = lazyregexp.New(`^\s*\[?\s*\{\s*(?:"gpu_data"\s*:\s*\[\s*\{\s*)?(?:"timestamp"\s*:\s*\d+\s*,\s*)?"gpu"\s*:\s*\d+\s*,`)

func isAMD(head []byte) bool {
	first := bytes.TrimLeft(head, "\t\n\f\r [{")
	if !bytes.HasPrefix(first, []byte(`"gpu`)) && !bytes.HasPrefix(first, []byte(`"timestamp"`)) || !reAMD().Match(head) {
		return false
	}
	s := string(head)
	return slices.ContainsFunc([]string{`"usage"`, `"mem_usage"`, `"power"`, `"temperature"`, `"clock"`, `"power_usage"`, `"vram_used"`},
		func(name string) bool { return strings.Contains(s, name) })
}

// amdJSON reads an output of amd-smi metric or monitor, and reports whether it is one.
func (f *Finder) amdJSON(raw json.RawMessage) bool {
	var list []map[string]any
	var doc struct {
		GPUs []map[string]any `json:"gpu_data"`
	}
	if json.Unmarshal(raw, &list) != nil {
		var one map[string]any
		if json.Unmarshal(raw, &doc) != nil || json.Unmarshal(raw, &one) != nil {
			return false
		}
		if list = doc.GPUs; list == nil && one["gpu"] != nil {
			list = []map[string]any{one}
		}
	}
	found := false
	for _, gpu := range list {
		if index, ok := gpu["gpu"].(float64); ok {
			found = true
			f.amdGPU(gpu, fmt.Sprint(index))
		}
	}
	return found
}

// amdGPU reads the values of one GPU. Those of metric are in sections.
func (f *Finder) amdGPU(values map[string]any, gpu string) {
	f.time = logs.NoTime
	if t, ok := values["timestamp"].(float64); ok {
		f.amdTime(fmt.Sprintf("%.0f", t))
	}
	f.b.Record(amdSMI, false)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		section, ok := values[name].(map[string]any)
		if _, single := section["value"]; !ok || single {
			if name != "gpu" && name != "timestamp" && name != "xcp" {
				f.amdValue("amdmon", name, values[name], gpu)
			}
			continue
		}
		switch name {
		case "usage", "power", "mem_usage", "temperature":
			for _, key := range slices.Sorted(maps.Keys(section)) {
				f.amdValue("amd", key, section[key], gpu)
			}
		case "clock":
			for _, key := range []string{"gfx_0", "mem_0"} {
				if c, ok := section[key].(map[string]any); ok {
					f.amdValue("amd", key+"_clk", c["clk"], gpu)
				}
			}
		}
	}
}

// amdValue adds a value, which is a number, or a number with its unit, or "N/A".
func (f *Finder) amdValue(table, name string, v any, gpu string) {
	if m, ok := v.(map[string]any); ok {
		v = m["value"]
	}
	c := columnOf(table, name)
	if c.skip || c.metric.Name == name {
		return // of no use without a name of its own
	}
	switch v := v.(type) {
	case float64:
		f.add(amdSMI, table, name, fmt.Sprint(v), gpuLabel(gpu))
	case string:
		f.add(amdSMI, table, name, strings.Fields(v + " -")[0], gpuLabel(gpu))
	}
}
