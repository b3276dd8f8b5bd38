package ascend_test

import (
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"assay/trace"
)

// dbTables are the tables of a database of Ascend's profilers, with the columns whose names matter.
var dbTables = map[string]string{
	"CommAnalyzerTime": "hccl_op_name, group_name, start_timestamp, elapse_time, transit_time, wait_time, synchronization_time, idle_time, step, type",
	"CommAnalyzerBandwidth": "hccl_op_name, group_name, transport_type, transit_size, transit_time, bandwidth, large_packet_ratio, package_size, " +
		"count, total_duration, step, type",
	"StepTraceTime": "deviceId, step, computing, communication_not_overlapped, overlapped, communication, free, stage, bubble, preparing",
	"STRING_IDS":    "id, value", "NPU_INFO": "id, name", "RANK_DEVICE_MAP": "rankId, deviceId", "HOST_INFO": "hostUid, hostName",
	"TASK":                    "startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, streamId, taskId, modelId",
	"COMPUTE_TASK_INFO":       "name, globalTaskId, blockNum, taskType, opType, inputShapes",
	"MEMCPY_INFO":             "globalTaskId, size, memcpyOperation",
	"COMMUNICATION_TASK_INFO": "name, globalTaskId, taskType, planeId, groupName, opId",
	"COMMUNICATION_OP":        "opName, startNs, endNs, connectionId, groupName, opId, deviceId",
	"CANN_API":                "startNs, endNs, type, globalTid, connectionId, name",
	"PYTORCH_API":             "startNs, endNs, globalTid, connectionId, name, type",
	"CONNECTION_IDS":          "id, connectionId", "STEP_TIME": "id, startNs, endNs",
	"MSTX_EVENTS": "startNs, endNs, message, globalTid",
}

// An dbRow is a row of one of these tables. dbTexts in columns that refer to STRING_IDS are written there.
type dbRow struct {
	Table  string
	Values []any
}

// A dbText is a text of STRING_IDS.
type dbText string

// writeRows writes a database to a path that does not exist.
func writeRows(path string, rows []dbRow) (err error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		return err
	}
	defer func() {
		if closed := conn.Close(); err == nil {
			err = closed
		}
	}()
	defer sqlitex.Transaction(conn)(&err)
	texts, made := map[dbText]int64{}, map[string]bool{}
	insert := func(table string, values ...any) error {
		if !made[table] {
			made[table] = true
			if err := sqlitex.ExecuteTransient(conn, "CREATE TABLE "+table+" ("+dbTables[table]+")", nil); err != nil {
				return err
			}
		}
		marks := strings.TrimSuffix(strings.Repeat("?,", len(values)), ",")
		return sqlitex.Execute(conn, "INSERT INTO "+table+" VALUES ("+marks+")", &sqlitex.ExecOptions{Args: values})
	}
	for _, row := range rows {
		values := make([]any, len(row.Values))
		for i, v := range row.Values {
			text, ok := v.(dbText)
			if values[i] = v; !ok {
				continue
			}
			if texts[text] == 0 {
				texts[text] = int64(len(texts)) + 1
				if err := insert("STRING_IDS", texts[text], string(text)); err != nil {
					return err
				}
			}
			values[i] = texts[text]
		}
		if err := insert(row.Table, values...); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf returns the rows of a trace.
func rowsOf(t *trace.Trace, shift int64) (rows []dbRow) {
	add := func(table string, values ...any) { rows = append(rows, dbRow{table, values}) }
	thread := func(on trace.TrackID) int64 {
		p, _ := strconv.ParseInt(t.Tracks[on].PID, 10, 32)
		n, _ := strconv.ParseInt(t.Tracks[on].TID, 10, 64)
		return p<<32 | n
	}
	for o := range t.Ops.All() {
		add("PYTORCH_API", o.Start+shift, o.Start+o.Dur+shift, thread(o.Track), nil, dbText(t.Name(o.Name)), 50001)
	}
	for s := range t.Spans.All() {
		switch name := t.Name(s.Name); {
		case s.Kind != trace.Annotation:
		case strings.HasPrefix(name, "ProfilerStep#"):
			add("PYTORCH_API", s.Start+shift, s.Start+s.Dur+shift, thread(s.Track), nil, dbText(name), 50001)
		default:
			add("MSTX_EVENTS", s.Start+shift, s.Start+s.Dur+shift, dbText(name), thread(s.Track))
		}
	}
	for c := range t.Calls.All() {
		add("CANN_API", c.Start+shift, c.Start+c.Dur+shift, 20000, thread(c.Track), int64(c.Correlation), dbText("AscendCL@"+t.Name(c.Name)))
	}
	n := int64(0)
	for a := range t.Activities.All() {
		on, kind := t.Tracks[a.Track], "KERNEL_AICORE"
		n++
		switch a.Kind {
		case trace.Memcpy:
			kind = "MEMCPY_ASYNC"
			add("MEMCPY_INFO", n, t.Detail(a.Detail).Bytes, 1)
		case trace.Memset:
			kind = "MEMSET_ASYNC"
		default:
			add("COMPUTE_TASK_INFO", dbText(t.Name(a.Name)), n, 8, dbText("AI_CORE"), nil, nil)
		}
		add("TASK", a.Start+shift, a.End()+shift, on.Device, int64(a.Correlation), n, 1, dbText(kind), 0, on.Stream, n, 0)
	}
	return rows
}
