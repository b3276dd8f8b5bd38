package rocm

import (
	"bytes"
	"strings"

	"assay/internal/database"
	"assay/trace"
)

// An rpd is a database of rocmProfileData.
type rpd struct {
	*capture
	db      *database.Database
	strings map[int64][]byte
	calls   map[int64]int64     // the call of an operation
	pids    map[int64]int64     // processes of calls that launched operations
	apis    map[int64]int64     // names of such calls
	launch  map[int64]rpdLaunch // sizes of launches and copies, by call
	ops     map[int64]bool      // ranges that are operators of PyTorch
}

type rpdLaunch struct {
	grid, block [3]int64
	bytes       int64
	stream      int64
}

func readRPD(c *capture, db *database.Database) {
	r := &rpd{capture: c, db: db, strings: map[int64][]byte{}, calls: map[int64]int64{}, pids: map[int64]int64{}, apis: map[int64]int64{},
		launch: map[int64]rpdLaunch{}, ops: map[int64]bool{}}
	r.scan(db, "rocpd_string", []string{"id", "string"}, func(row *database.Row) {
		if text := row.Text(1); r.take(len(text) + 64) {
			r.strings[row.Num(0)] = []byte(cut(string(text)))
		}
	})
	r.scan(db, "rocpd_api_ops", []string{"api_id", "op_id"}, func(row *database.Row) {
		if r.take(64) {
			r.calls[row.Num(1)] = row.Num(0)
			r.pids[row.Num(0)] = 0
		}
	})
	r.launches()
	r.scan(db, "ext_autogradapi", []string{"api_ptr_id"}, func(row *database.Row) {
		if r.take(32) {
			r.ops[row.Num(0)] = true
		}
	})
	r.scan(db, "rocpd_api", []string{"id", "pid", "apiName_id"}, func(row *database.Row) {
		if _, ok := r.pids[row.Num(0)]; ok && r.take(32) {
			r.pids[row.Num(0)], r.apis[row.Num(0)] = row.Num(1), row.Num(2)
		}
	})
	r.work()
	r.host()
}

// launches reads the arguments of calls.
func (r *rpd) launches() {
	r.scan(r.db, "rocpd_kernelapi", []string{"api_ptr_id", "stream", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ"},
		func(row *database.Row) {
			if r.take(128) {
				r.launch[row.Num(0)] = rpdLaunch{grid: [3]int64{row.Num(2), row.Num(3), row.Num(4)}, block: [3]int64{row.Num(5), row.Num(6), row.Num(7)},
					bytes: -1, stream: r.streamOf(row.Text(1))}
			}
		})
	r.scan(r.db, "rocpd_copyapi", []string{"api_ptr_id", "stream", "size", "width", "height"}, func(row *database.Row) {
		if !r.take(128) {
			return
		}
		l := rpdLaunch{bytes: -1, stream: r.streamOf(row.Text(1))}
		if n := row.Num(2); n > 0 {
			l.bytes = n
		} else if w, h := row.Num(3), row.Num(4); w > 0 && h > 0 && w < 1<<31 && h < 1<<31 { // of two dimensions
			l.bytes = w * h
		}
		r.launch[row.Num(0)] = l
	})
}

// streamOf returns the number of a stream, which is the address of a handle.
func (c *capture) streamOf(address []byte) int64 { return c.handle(number(string(address), 0)) }

// workKinds are the kinds of operations. A task is a kernel of a graph.
func workKind(kind string) (k trace.Kind, ok bool) {
	switch {
	case kind == "KernelExecution" || kind == "Task":
		return trace.Kernel, true
	case strings.HasPrefix(kind, "Copy"):
		return trace.Memcpy, true
	case strings.HasPrefix(kind, "FillBuffer"):
		return trace.Memset, true
	}
	return 0, false
}

func (r *rpd) work() {
	r.scan(r.db, "rocpd_op", []string{"id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"}, func(row *database.Row) {
		typ := r.strings[row.Num(6)]
		kind, ok := workKind(string(typ))
		if !ok {
			return // barriers, which do no work
		}
		w := newWork(kind)
		w.device, w.queue, w.start, w.end = row.Num(1), row.Num(2), when(row, 3), when(row, 4)
		call := r.calls[row.Num(0)]
		w.correlation, w.pid = call, r.pids[call]
		w.name = r.nameOf(kind, typ, row.Num(5))
		if l, ok := r.launch[call]; ok && string(typ) != "Task" {
			w.stream, w.bytes, w.grid, w.block = l.stream, l.bytes, l.grid, l.block
			// These calls state the grid in threads.
			if name := r.strings[r.apis[call]]; bytes.Contains(name, []byte("ExtModuleLaunch")) || bytes.Contains(name, []byte("HccModuleLaunch")) {
				w.grid = blocks(l.grid, l.block)
			}
		}
		r.add(&w)
	})
}

// nameOf returns the name of an operation.
func (r *rpd) nameOf(kind trace.Kind, typ []byte, description int64) []byte {
	switch kind {
	case trace.Memcpy:
		return memcpyName(typ)
	case trace.Memset:
		return []byte("Memset")
	}
	if name := r.strings[description]; len(name) > 0 {
		return kernelName(name)
	}
	return typ
}

// host reads calls. Names without "hip" are those of functions that the program has marked, or of the profiler's own work.
func (r *rpd) host() {
	r.scan(r.db, "rocpd_api", []string{"id", "pid", "tid", "start", "end", "apiName_id", "args_id"}, func(row *database.Row) {
		name := named(r.strings, row.Num(5), "string")
		d := rpdDomain(name)
		if string(name) == "UserMarker" {
			name = named(r.strings, row.Num(6), "string")
			if r.ops[row.Num(0)] {
				d = domain{trace.CPUOp, ""}
			}
		}
		r.capture.host(d, name, row.Num(1), row.Num(2), when(row, 3), when(row, 4), row.Num(0))
	})
}

// rpdDomain returns the domain of a name in the table of calls.
func rpdDomain(name []byte) domain {
	text := string(name)
	switch {
	case text == "UserMarker" || text == "roctxMarkA" || text == "roctxRangePushA":
		return domain{trace.Annotation, "roctx"}
	case strings.HasSuffix(text, "::writeRows"), text == "rpdflush", strings.HasSuffix(text, "_activity_callback"):
		return domain{trace.Overhead, "rpd"}
	case strings.HasPrefix(text, "hip"), strings.HasPrefix(text, "__hip"), strings.HasPrefix(text, "hsa"):
		return callDomain(text)
	}
	return domain{trace.Annotation, "rpd"}
}
