package ascend

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/internal/database"
	"assay/internal/diag"
	"assay/internal/redact"
	"assay/trace"
)

// FormatDB is the format of databases: ascend_pytorch_profiler_*.db of torch_npu and msprof_*.db of msprof.
const FormatDB = "ascend-sqlite"

// ErrNoWork means that a database has neither tasks nor calls.
var ErrNoWork = errors.New("the database has neither tasks nor calls")

// A dbTask is what the tables of compute tasks and copies say of a task.
type dbTask struct {
	name, operator int64 // numbers of texts; 0 if it computes nothing
	bytes          int64 // of a copy
	copies, inside bool  // it is a copy; it is a step of a collective, which has its own row
}

// A dbReader reads a database. Its tables refer to texts and to each other by numbers.
type dbReader struct {
	db      *database.Database
	out     *trace.Assembler
	file    string
	texts   map[int64]string
	tasks   map[int64]dbTask
	callers map[int64]trace.ID // the operator of PyTorch by the connection of a call or task
	groups  map[int64]int64    // streams of collectives
	placed  map[int64]int64    // the device of a connection
	meta    trace.Meta
	left    int64 // bytes that may be kept
	rows    int64
	whole   bool
}

// ReadDatabase reads the database at path, which it does not change. It returns false if no profiler of Ascend wrote it.
func ReadDatabase(path, file string, sel trace.Select) (t *trace.Trace, ok bool, err error) {
	db, err := database.Open(path)
	if err != nil {
		return nil, false, nil // the reader of other databases says why
	}
	defer db.Close()
	if len(db.Columns("STRING_IDS")) == 0 || len(db.Columns("TASK"))+len(db.Columns("CANN_API")) == 0 {
		return nil, false, nil
	}
	most := sel.Limits.Memory
	if most <= 0 {
		most = trace.DefaultLimits().Memory
	}
	r := &dbReader{db: db, out: trace.NewAssembler(file, sel), file: file, texts: map[int64]string{}, tasks: map[int64]dbTask{},
		callers: map[int64]trace.ID{}, groups: map[int64]int64{}, placed: map[int64]int64{}, left: most / 3, whole: true,
		meta: trace.Meta{Tool: FormatDB, Devices: map[int64]string{}}}
	if is, cut := db.Cut(file); cut {
		r.whole = false
		r.out.Issue(is, 1)
	}
	r.names()
	r.facts()
	r.computing()
	r.collectives()
	r.host()
	if r.rows == 0 {
		return nil, true, ErrNoWork
	}
	return r.out.Trace(r.meta, r.rows, r.whole), true, nil
}

// read reads a table, if there is one. Rows behind damage are missing, which is an issue.
func (r *dbReader) read(table string, columns []string, each func(*database.Row)) {
	if len(r.db.Columns(table)) == 0 {
		return
	}
	err := r.db.Scan(table, columns, func(row *database.Row) bool {
		each(row)
		return !r.out.Full() && r.left > 0
	})
	if err == nil && r.left <= 0 {
		err = errors.New("the limit of memory is reached")
	}
	if err != nil {
		r.whole = false
		r.out.Issue(diag.Issue{Code: "device-table-damaged", Severity: diag.DataLoss, First: diag.Pos{File: r.file, Path: table},
			Help: fmt.Sprintf("A table of the database ends early (%v). Its further rows are missing from every total. Copy the file again, or raise --max-memory.", err)}, 1)
	}
}

// names reads texts, and where the program ran.
func (r *dbReader) names() {
	r.read("STRING_IDS", []string{"id", "value"}, func(row *database.Row) {
		text := redact.Cut(string(row.Text(1)), maxName)
		r.left -= int64(len(text)) + 64
		r.texts[row.Num(0)] = text
	})
	r.read("NPU_INFO", []string{"id", "name"}, func(row *database.Row) {
		if name := strings.TrimPrefix(string(row.Text(1)), "Ascend"); name != "" && len(name) < 64 && row.Num(0) >= 0 && row.Num(0) < 1<<16 {
			r.meta.Devices[row.Num(0)] = "Ascend " + strings.TrimSpace(name)
		}
	})
	r.read("HOST_INFO", []string{"hostName"}, func(row *database.Row) {
		if host := string(row.Text(0)); len(host) <= 64 {
			r.meta.Host = host
		}
	})
	ranks := 0
	r.read("RANK_DEVICE_MAP", []string{"rankId"}, func(row *database.Row) {
		rank := int(row.Num(0))
		if ranks++; ranks > 1 || rank < 0 || rank > 1<<24 {
			r.meta.Rank = nil
			return
		}
		r.meta.Rank = &rank
	})
}

// facts reads what the tasks are, and which operator launched them.
func (r *dbReader) facts() {
	change := func(id int64, set func(*dbTask)) {
		t, known := r.tasks[id]
		if !known {
			r.left -= 96
		}
		set(&t)
		r.tasks[id] = t
	}
	r.read("COMPUTE_TASK_INFO", []string{"globalTaskId", "name", "opType"}, func(row *database.Row) {
		change(row.Num(0), func(t *dbTask) { t.name, t.operator = row.Num(1), row.Num(2) })
	})
	r.read("MEMCPY_INFO", []string{"globalTaskId", "size"}, func(row *database.Row) {
		change(row.Num(0), func(t *dbTask) { t.copies, t.bytes = true, row.Num(1) })
	})
	for _, table := range []string{"COMMUNICATION_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO"} {
		r.read(table, []string{"globalTaskId"}, func(row *database.Row) { change(row.Num(0), func(t *dbTask) { t.inside = true }) })
	}
	r.read("CONNECTION_IDS", []string{"id", "connectionId"}, func(row *database.Row) {
		r.left -= 48
		r.callers[row.Num(1)] = trace.IDOf(row.Num(0))
	})
}

// noConnection is the number that a task or call without a connection has.
const noConnection = 1<<32 - 1

// connection returns the number by which a call and its tasks refer to each other, or 0.
func connection(n int64) trace.ID {
	if n <= 0 || n == noConnection {
		return 0
	}
	return trace.IDOf(n)
}

// time returns the start and the length of a row whose first two columns are its times.
func (r *dbReader) time(row *database.Row) (start, dur int64, ok bool) {
	start = row.Num(0)
	dur = row.Num(1) - start
	if row.NotNumber(0) || row.NotNumber(1) || start < 0 || dur < 0 || dur > trace.MaxDuration {
		r.whole = false
		r.out.Issue(diag.Issue{Code: "event-damaged", Severity: diag.DataLoss, First: diag.Pos{File: r.file},
			Help: "These rows have no usable time, and were left out. Their time is missing from every total. Copy the file again."}, 1)
		return 0, 0, false
	}
	r.rows++
	return start, dur, true
}

// add adds work of a device.
func (r *dbReader) add(start, dur, link, device, stream int64, is trace.Meaning) {
	if device = max(0, min(device, 1<<15)); r.meta.Devices[device] == "" {
		r.meta.Devices[device] = DeviceName
	}
	d := trace.Detail{Registers: -1, SharedMemory: -1, Bytes: -1, GraphID: -1, Collective: trace.Collective{In: -1, Out: -1, GroupSize: -1}}
	if is.Bytes > 0 {
		d.Bytes = is.Bytes
	}
	if is.Collective != "" {
		d.Collective.Name, d.Collective.Group = r.out.Sym([]byte(is.Collective)), r.out.Sym([]byte(is.Group))
	}
	name := r.out.Sym([]byte(is.Name))
	r.out.Activity(trace.Activity{Start: start, Dur: dur, Name: name, Kind: is.Kind, Correlation: connection(link), External: r.callers[link],
		Track: r.out.Stream(0, device, stream), Detail: r.out.Detail(d, name)})
}

// computing reads the tasks of streams: those that compute, and copies. All others control streams, or are steps of
// collectives.
func (r *dbReader) computing() {
	r.read("TASK", []string{"startNs", "endNs", "globalTaskId", "taskType", "connectionId", "deviceId", "streamId"}, func(row *database.Row) {
		start, dur, ok := r.time(row)
		if !ok {
			return
		}
		t := r.tasks[row.Num(2)]
		if t.inside {
			r.left -= 48
			r.placed[row.Num(4)] = row.Num(5)
			return
		}
		is := taskOf(r.texts[t.name], r.texts[t.operator])
		if t.name == 0 {
			is = taskOf(r.texts[row.Num(3)], "")
			if is.Kind == trace.Kernel && t.copies {
				is.Kind = trace.Memcpy
			}
			if is.Bytes = t.bytes; is.Kind == trace.Kernel {
				return
			}
		}
		if is.Kind != trace.Sync {
			r.add(start, dur, row.Num(4), row.Num(5), row.Num(6), is)
		}
	})
}

// collectives reads the collectives, each of which is on a lane of its group.
func (r *dbReader) collectives() {
	r.read("COMMUNICATION_OP", []string{"startNs", "endNs", "opName", "groupName", "connectionId", "deviceId"}, func(row *database.Row) {
		start, dur, ok := r.time(row)
		if !ok {
			return
		}
		is := taskOf(r.texts[row.Num(2)], "")
		if is.Collective == "" {
			is.Collective = "other"
		}
		if group := r.texts[row.Num(3)]; group != "" {
			is.Group = group
		}
		stream, known := r.groups[row.Num(3)]
		if !known {
			stream = firstGroup + int64(len(r.groups))
			r.groups[row.Num(3)] = stream
		}
		device := r.placed[row.Num(4)]
		if !row.Null(5) {
			device = row.Num(5)
		}
		r.add(start, dur, row.Num(4), device, stream, is)
	})
}

// host reads calls of CANN, operators and ranges of the program.
func (r *dbReader) host() {
	thread := func(global int64) trace.TrackID { return r.out.Thread(global>>32, global&(1<<32-1)) }
	r.read("CANN_API", []string{"startNs", "endNs", "name", "connectionId", "globalTid"}, func(row *database.Row) {
		if start, dur, ok := r.time(row); ok {
			name := strings.TrimPrefix(r.texts[row.Num(2)], "AscendCL@")
			r.out.Call(trace.Call{Start: start, Dur: dur, Name: r.out.Sym([]byte(name)), Kind: trace.Runtime, Track: thread(row.Num(4)),
				Correlation: connection(row.Num(3)), External: r.callers[row.Num(3)]})
		}
	})
	steps := false
	r.read("PYTORCH_API", []string{"startNs", "endNs", "name", "connectionId", "globalTid", "type"}, func(row *database.Row) {
		start, dur, ok := r.time(row)
		name := r.texts[row.Num(2)]
		switch {
		case !ok:
		case strings.HasPrefix(name, "ProfilerStep#"):
			steps = true
			r.span(start, dur, name, thread(row.Num(4)))
		case !strings.HasPrefix(name, "Enqueue"): // of a task for another thread, which is in Dequeue
			sym := r.out.Sym([]byte(name))
			r.out.Op(trace.Op{Start: start, Dur: dur, Name: sym, Track: thread(row.Num(4)), External: trace.IDOf(max(0, row.Num(3))), Shape: r.out.Shape(trace.Shape{}, sym)})
		}
	})
	r.read("MSTX_EVENTS", []string{"startNs", "endNs", "message", "globalTid"}, func(row *database.Row) {
		if start, dur, ok := r.time(row); ok && dur > 0 {
			r.span(start, dur, r.texts[row.Num(2)], thread(row.Num(3)))
		}
	})
	if !steps {
		r.read("STEP_TIME", []string{"startNs", "endNs", "id"}, func(row *database.Row) {
			if start, dur, ok := r.time(row); ok {
				r.span(start, dur, fmt.Sprintf("ProfilerStep#%d", row.Num(2)), r.out.Thread(0, stepsThread))
			}
		})
	}
	if !slices.Contains(r.db.Tables(), "CANN_API") {
		r.meta.WithoutCalls = "The database has no calls of CANN, so there are no causes of idle time. Record them: activities=[ProfilerActivity.CPU, ProfilerActivity.NPU]."
	}
}

// stepsThread is the number of the thread that has the steps where no thread of the program marks them.
const stepsThread = 1 << 40

// span adds a range of the program.
func (r *dbReader) span(start, dur int64, name string, on trace.TrackID) {
	r.out.Span(trace.HostSpan{Start: start, Dur: dur, Kind: trace.Annotation, Name: r.out.Sym([]byte(name)), Track: on})
}
