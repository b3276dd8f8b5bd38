package rocmgen

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"assay/trace"
)

// WriteCSV writes a trace as the tables of rocprofv3 to a directory; their names begin with stem.
func WriteCSV(dir, stem string, t *trace.Trace) error {
	ops, spans := rows(t)
	kernels := [][]string{{"Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id", "Start_Timestamp", "End_Timestamp",
		"LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count", "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"}}
	copies := [][]string{{"Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"}}
	calls := [][]string{{"Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"}}
	ranges := [][]string{calls[0]}
	agents := [][]string{{"Node_Id", "Logical_Node_Id", "Agent_Type", "Cu_Count", "Wave_Front_Size", "Product_Name", "Logical_Node_Type_Id"}}
	text := func(values ...any) (out []string) {
		for _, v := range values {
			switch v := v.(type) {
			case int64:
				out = append(out, strconv.FormatInt(v, 10))
			case string:
				out = append(out, v)
			}
		}
		return out
	}
	agent := func(n int64) string { return "Agent " + strconv.FormatInt(n, 10) }
	for i, o := range ops {
		if o.isCopy {
			from, to := o.ends()
			copies = append(copies, text("MEMORY_COPY", o.name, o.stream, agent(from), agent(to), o.correlation, o.start, o.end))
			continue
		}
		kernels = append(kernels, text("KERNEL_DISPATCH", agent(firstGPU+o.device), o.stream, o.stream, int64(1), int64(i+1), int64(1), o.name, o.correlation, o.start, o.end,
			int64(0), int64(0), int64(8), int64(0), int64(128), o.block[0], o.block[1], o.block[2], o.grid[0], o.grid[1], o.grid[2]))
	}
	for _, s := range spans {
		row := text(s.domain(), s.name, s.pid, s.tid, s.correlation, s.start, s.end)
		if s.isRange {
			ranges = append(ranges, row)
		} else {
			calls = append(calls, row)
		}
	}
	for i := range int64(firstGPU) {
		agents = append(agents, text(i, i, "CPU", int64(64), int64(0), "EPYC", i))
	}
	for i := range devices(ops) {
		agents = append(agents, text(firstGPU+i, firstGPU+i, "GPU", int64(304), int64(64), "AMD Instinct MI300X", i))
	}
	for name, rows := range map[string][][]string{"kernel_trace": kernels, "memory_copy_trace": copies, "hip_api_trace": calls, "marker_api_trace": ranges, "agent_info": agents} {
		if len(rows) == 1 {
			continue // rocprofv3 writes no table without rows
		}
		f, err := os.Create(filepath.Join(dir, stem+name+".csv"))
		if err != nil {
			return err
		}
		err = csv.NewWriter(f).WriteAll(rows)
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON writes a trace as the JSON of rocprofv3.
func WriteJSON(w io.Writer, t *trace.Trace) error {
	type object map[string]any
	type list []any
	ops, spans := rows(t)
	handle := func(n int64) object { return object{"handle": n} }
	three := func(n [3]int64) object { return object{"x": n[0], "y": n[1], "z": n[2]} }
	names, apis := map[string]int{}, map[string]int{}
	symbols, operations, messages := list{object{"kernel_id": 0, "kernel_name": "", "formatted_kernel_name": ""}}, list{}, list{}
	var kernels, copies, calls, ranges list
	for i, o := range ops {
		from, to := o.ends()
		common := object{"size": 1, "thread_id": 1, "correlation_id": object{"internal": o.correlation, "external": 0}, "start_timestamp": o.start, "end_timestamp": o.end,
			"stream_id": handle(o.stream)}
		if o.isCopy {
			direction := map[string]int{"MEMORY_COPY_HOST_TO_HOST": 1, "MEMORY_COPY_HOST_TO_DEVICE": 2, "MEMORY_COPY_DEVICE_TO_HOST": 3, "MEMORY_COPY_DEVICE_TO_DEVICE": 4}
			common["kind"], common["operation"], common["bytes"] = 3, direction[o.name], max(0, o.bytes)
			common["src_agent_id"], common["dst_agent_id"] = handle(9000+from), handle(9000+to)
			copies = append(copies, common)
			continue
		}
		id, ok := names[o.name]
		if !ok {
			id = len(symbols)
			names[o.name] = id
			symbols = append(symbols, object{"kernel_id": id, "kernel_name": o.name + ".kd", "formatted_kernel_name": o.name})
		}
		common["kind"], common["operation"] = 4, 1
		common["dispatch_info"] = object{"agent_id": handle(9000 + firstGPU + o.device), "queue_id": handle(o.stream), "kernel_id": id, "dispatch_id": i,
			"private_segment_size": 0, "group_segment_size": 0, "workgroup_size": three(o.block), "grid_size": three(o.grid)}
		kernels = append(kernels, common)
	}
	for i, s := range spans {
		it := object{"kind": 1, "thread_id": s.tid, "correlation_id": object{"internal": s.correlation}, "start_timestamp": s.start, "end_timestamp": s.end}
		if s.isRange {
			id := 1<<40 + i
			it["kind"], it["operation"], it["correlation_id"] = 2, 1, object{"internal": id}
			messages = append(messages, object{"key": id, "value": s.name})
			ranges = append(ranges, it)
			continue
		}
		id, ok := apis[s.name]
		if !ok {
			id = len(operations)
			apis[s.name] = id
			operations = append(operations, s.name)
		}
		it["operation"] = id
		calls = append(calls, it)
	}
	agents := list{object{"id": handle(9000), "type": 1, "product_name": "EPYC"}}
	for i := range devices(ops) {
		agents = append(agents, object{"id": handle(9000 + firstGPU + i), "type": 2, "product_name": "AMD Instinct MI300X", "cu_count": 304, "logical_node_type_id": i})
	}
	pid := int64(1)
	if len(spans) > 0 {
		pid = spans[0].pid
	}
	_, err := io.WriteString(w, `{"rocprofiler-sdk-tool":[`)
	if err != nil {
		return err
	}
	out := json.NewEncoder(w)
	parts := []struct {
		name  string
		value any
	}{
		{"metadata", object{"pid": pid}}, {"agents", agents}, {"counters", list{}},
		{"strings", object{"buffer_records": list{object{"kind": "NONE", "operations": list{}}, object{"kind": "HIP_RUNTIME_API_EXT", "operations": operations},
			object{"kind": "MARKER_CORE_API", "operations": list{"NONE", "roctxRangePushA"}},
			object{"kind": "MEMORY_COPY", "operations": list{"NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE"}},
			object{"kind": "KERNEL_DISPATCH", "operations": list{"NONE", "KERNEL_DISPATCH"}}}, "marker_api": messages}},
		{"kernel_symbols", symbols},
		{"buffer_records", object{"kernel_dispatch": kernels, "memory_copy": copies, "hip_api": calls, "marker_api": ranges}},
	}
	for i, p := range parts {
		before := `,"`
		if i == 0 {
			before = `{"`
		}
		if _, err := io.WriteString(w, before+p.name+`":`); err != nil {
			return err
		}
		if err := out.Encode(p.value); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "}]}")
	return err
}
