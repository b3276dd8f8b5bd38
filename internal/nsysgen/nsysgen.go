// Package nsysgen writes databases as Nsight Systems exports them, of any size
// and with sums that are known before they are read.
//
// The tables have the columns of schema 3.25.0 (Nsight Systems 2026.2), in its
// order and with its types, for what reading costs depends on them.
package nsysgen

import (
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// A Plan says what to write.
type Plan struct {
	Kernels int  // on one stream of each device, in turns
	Devices int  // 1 if 0
	Calls   bool // a call launches each kernel
	Ranges  int  // each holds as many kernels as any other, give or take one; 0 for none
}

// The times of a plan in ns: a kernel starts every period, runs for some of it,
// and is launched lead before it starts by a call of some length.
const (
	Period     = 10_000
	lead       = 6_000
	callLength = 3_000
	first      = 1_000_000 // when the first kernel starts
)

// Names are the names of kernels, in turns.
var Names = []string{
	"void gemm_kernel<float, (int)128, (int)64>(T1 *, const T1 *, int)",
	"void elementwise_kernel<(int)4, AddFunctor>(int, T2)",
	"void softmax_warp_forward<float, (int)10>(T1 *, const T1 *, int)",
	"void layer_norm_kernel<float>(int, T1, const T1 *, T1 *)",
	"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
}

// Duration returns how long the kernel of an index runs.
func Duration(i int) int64 { return 1000 + int64(i%7)*1000 }

// Start returns when it starts.
func Start(i int) int64 { return first + int64(i)*Period }

const (
	pid       = 4242
	globalPID = 1<<48 | pid<<24
	globalTID = globalPID | pid
)

// Write makes the database at a path where there is none.
func Write(path string, p Plan) (err error) {
	p.Devices = max(1, p.Devices)
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, pragma := range []string{"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF"} {
		if err := sqlitex.ExecuteTransient(conn, pragma, nil); err != nil {
			return err
		}
	}
	if err := sqlitex.ExecuteScript(conn, schema, nil); err != nil {
		return err
	}
	defer sqlitex.Transaction(conn)(&err)
	if err := settings(conn, p); err != nil {
		return err
	}
	if p.Ranges > 0 {
		if err := ranges(conn, p); err != nil {
			return err
		}
	}
	kernel, err := insert(conn, "CUPTI_ACTIVITY_KIND_KERNEL", kernelColumns)
	if err != nil {
		return err
	}
	call, err := insert(conn, "CUPTI_ACTIVITY_KIND_RUNTIME", callColumns)
	if err != nil {
		return err
	}
	for i := range p.Kernels {
		start := Start(i)
		if p.Calls {
			if err := call.row(start-lead, start-lead+callLength, 0, globalTID, i+1, callID, 0, nil); err != nil {
				return err
			}
		}
		name := nameID + i%len(Names)
		if err := kernel.row(start, start+Duration(i), i%p.Devices, 1, nil, 7, i+1, globalPID, name, name, name, 1, 0, 32,
			64, 1, 1, 128, 1, 1, 0, 4096, 0, 0, i+1, 16384, nil, 0, nil, nil, nil, nil, 0, 0, 0, 0, 0, 0, 0, "[]"); err != nil {
			return err
		}
	}
	return nil
}

// The ids of strings.
const (
	callID = 1
	nameID = 10
)

func settings(conn *sqlite.Conn, p Plan) error {
	strings, err := insert(conn, "StringIds", "id value")
	if err != nil {
		return err
	}
	if err := strings.row(callID, "cudaLaunchKernel_v7000"); err != nil {
		return err
	}
	for i, name := range Names {
		if err := strings.row(nameID+i, name); err != nil {
			return err
		}
	}
	meta, err := insert(conn, "META_DATA_EXPORT", "name value")
	if err != nil {
		return err
	}
	if err := meta.row("EXPORT_SCHEMA_VERSION", "3.25.0"); err != nil {
		return err
	}
	gpu, err := insert(conn, "TARGET_INFO_GPU", "id name totalMemory")
	if err != nil {
		return err
	}
	for d := range p.Devices {
		if err := gpu.row(d, "Generated GPU", 80<<30); err != nil {
			return err
		}
	}
	return nil
}

// ranges writes pushed and popped ranges, from the first call of each to the
// first of the next.
func ranges(conn *sqlite.Conn, p Plan) error {
	w, err := insert(conn, "NVTX_EVENTS", rangeColumns)
	if err != nil {
		return err
	}
	for i := range p.Ranges {
		from, to := Start(i*p.Kernels/p.Ranges)-lead, Start((i+1)*p.Kernels/p.Ranges)-lead
		if err := w.row(from, to, 59, nil, nil, nil, fmt.Sprintf("step %d", i), globalTID, nil, nil, 0,
			nil, nil, nil, nil, nil, nil, nil, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// A writer writes rows of one table.
type writer struct{ stmt *sqlite.Stmt }

func insert(conn *sqlite.Conn, table, columns string) (*writer, error) {
	n := len(strings.Fields(columns))
	stmt, err := conn.Prepare("INSERT INTO " + table + " VALUES (?" + strings.Repeat(", ?", n-1) + ")")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", table, err)
	}
	return &writer{stmt}, nil
}

func (w *writer) row(values ...any) error {
	if n := w.stmt.BindParamCount(); n != len(values) {
		return fmt.Errorf("%d values for %d columns", len(values), n)
	}
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			w.stmt.BindNull(i + 1)
		case int:
			w.stmt.BindInt64(i+1, int64(v))
		case int64:
			w.stmt.BindInt64(i+1, v)
		case string:
			w.stmt.BindText(i+1, v)
		}
	}
	_, err := w.stmt.Step()
	if err == nil {
		err = w.stmt.Reset()
	}
	return err
}
