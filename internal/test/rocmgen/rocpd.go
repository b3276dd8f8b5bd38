package rocmgen

import (
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"assay/trace"
)

// tables are the tables of schema 3 of rocpd, with the columns whose names matter.
var tables = map[string]string{
	"metadata": "id, tag, value", "string": "id, guid, string",
	"info_node": "id, guid, hostname", "info_process": "id, guid, nid, pid, command, environment", "info_thread": "id, guid, pid, tid",
	"info_agent":         "id, guid, nid, pid, type, absolute_index, logical_index, type_index, name, product_name, extdata",
	"info_kernel_symbol": "id, guid, kernel_name, display_name", "info_queue": "id, guid, name", "info_stream": "id, guid, name",
	"event": "id, guid, category_id, stack_id, parent_stack_id, correlation_id",
	"kernel_dispatch": `id, guid, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end", private_segment_size, group_segment_size,
		workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id`,
	"memory_copy": `id, guid, nid, pid, tid, start, "end", name_id, dst_agent_id, src_agent_id, size, queue_id, stream_id, event_id`,
	"region":      `id, guid, nid, pid, tid, start, "end", name_id, event_id`,
}

// A Process is one process of a database of rocprofv3.
type Process struct {
	Trace       *trace.Trace
	Environment string // JSON
	Location    int64  // of the first GPU in the machine
}

// WriteRocpd writes traces as a database of rocprofv3 to a path that does not exist, each with tables of its own, as rocpd
// merge makes them.
func WriteRocpd(path string, processes ...Process) (err error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		return err
	}
	defer func() {
		if closed := conn.Close(); err == nil {
			err = closed
		}
	}()
	for _, pragma := range []string{"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF"} {
		if err := sqlitex.ExecuteTransient(conn, pragma, nil); err != nil {
			return err
		}
	}
	defer sqlitex.Transaction(conn)(&err)
	for i, p := range processes {
		guid := fmt.Sprintf("0000%04d-0a0b-0c0d-0e0f-102030405060", i+1)
		w := &writer{conn: conn, guid: guid, suffix: "_" + strings.ReplaceAll(guid, "-", "_"), rows: map[string]int64{}, texts: map[string]int64{}, kernels: map[string]int64{}}
		if w.process(p, int64(i)); w.err != nil {
			return w.err
		}
	}
	return nil
}

type writer struct {
	conn           *sqlite.Conn
	guid, suffix   string
	rows           map[string]int64
	texts, kernels map[string]int64
	err            error
}

// row adds a row; its first two columns are its number and the id of the capture. It returns the number.
func (w *writer) row(table string, values ...any) int64 {
	if w.err != nil {
		return 0
	}
	name := `"rocpd_` + table + w.suffix + `"`
	if w.rows[table] == 0 {
		w.err = sqlitex.ExecuteTransient(w.conn, "CREATE TABLE "+name+" ("+strings.Replace(tables[table], "id,", "id INTEGER PRIMARY KEY,", 1)+")", nil)
	}
	w.rows[table]++
	n := w.rows[table]
	if table == "metadata" {
		values = append([]any{n}, values...)
	} else {
		values = append([]any{n, w.guid}, values...)
	}
	if w.err == nil {
		w.err = sqlitex.Execute(w.conn, "INSERT INTO "+name+" VALUES (?"+strings.Repeat(", ?", len(values)-1)+")", &sqlitex.ExecOptions{Args: values})
	}
	return n
}

func (w *writer) text(s string) int64 {
	n, ok := w.texts[s]
	if !ok {
		n = w.row("string", s)
		w.texts[s] = n
	}
	return n
}

func (w *writer) process(p Process, index int64) {
	ops, spans := rows(p.Trace)
	w.row("metadata", "schema_version", "3")
	w.row("info_node", "node-a")
	pid := int64(1)
	if len(spans) > 0 {
		pid = spans[0].pid
	}
	w.row("info_process", 1, pid+index, "python train.py", p.Environment)
	w.row("info_agent", 1, 1, "CPU", 0, 0, 0, "cpu", "EPYC", "{}")
	gpus := map[int64]int64{}
	for i := range devices(ops) {
		gpus[firstGPU+i] = w.row("info_agent", 1, 1, "GPU", firstGPU+i, firstGPU+i, i, "gfx942", "AMD Instinct MI300X",
			fmt.Sprintf(`{"cu_count":304,"location_id":%d,"domain":0}`, p.Location+256*i))
	}
	gpus[0] = 1
	threads := map[int64]int64{}
	for _, s := range spans {
		if threads[s.tid] == 0 {
			threads[s.tid] = w.row("info_thread", 1, s.tid)
		}
		event := w.row("event", w.text(s.domain()), s.correlation, 0, s.correlation)
		w.row("region", 1, 1, threads[s.tid], s.start, s.end, w.text(s.name), event)
	}
	for i, o := range ops {
		event := w.row("event", w.text("KERNEL_DISPATCH"), o.correlation, 0, o.correlation)
		if o.isCopy {
			from, to := o.ends()
			w.row("memory_copy", 1, 1, 1, o.start, o.end, w.text(o.name), gpus[to], gpus[from], max(0, o.bytes), o.stream, o.stream, event)
			continue
		}
		if w.kernels[o.name] == 0 {
			w.kernels[o.name] = w.row("info_kernel_symbol", o.name+".kd", o.name)
		}
		w.row("kernel_dispatch", 1, 1, 1, gpus[firstGPU+o.device], w.kernels[o.name], i, o.stream, o.stream, o.start, o.end, 0, 0,
			o.block[0], o.block[1], o.block[2], o.grid[0], o.grid[1], o.grid[2], w.text(""), event)
	}
}
