package nsys

import (
	"bytes"
	"strings"

	"assay/diag"
)

// settings reads what the other tables need: strings, processes, devices, and
// how the capture was made.
func (l *loader) settings() {
	l.read("StringIds", []string{"id", "value"}, maxStrings, func(r row) { l.addString(r.num(0), r.text(1)) })
	for _, table := range []string{"META_DATA_CAPTURE", "META_DATA_EXPORT", "EXPORT_META_DATA"} {
		l.read(table, []string{"name", "value"}, maxSettings, func(r row) { l.setting(string(r.text(0)), r.text(1)) })
	}
	l.read("TARGET_INFO_SYSTEM_ENV", []string{"name", "value"}, maxSettings, func(r row) {
		if strings.EqualFold(string(r.text(0)), "DeviceEnvironment") {
			l.seen.secrets += secretsIn(r.text(1))
		}
	})
	l.read("TARGET_INFO_SESSION_START_TIME", []string{"utcEpochNs"}, 1, func(r row) {
		if epoch := r.num(0); epoch > 0 {
			l.meta.BaseTime = &epoch
		}
	})
	l.read("TARGET_INFO_GPU", []string{"id", "name", "totalMemory"}, maxDevices, func(r row) {
		id := r.num(0)
		l.meta.Devices[id] = printable(r.text(1))
		if n := r.num(2); n > 0 {
			l.meta.Capacity[id] = n
		}
	})
	l.read("TARGET_INFO_CUDA_DEVICE", []string{"gpuId", "cudaId", "pid"}, maxDevices, func(r row) {
		l.gpus[deviceKey{r.num(2), r.num(1)}] = r.num(0)
	})
	l.read("PROCESSES", []string{"globalPid", "name"}, maxThreads, func(r row) {
		if name := r.text(1); len(name) > 0 {
			l.out.NameProcess(l.thread(r.num(0)).pid, printable(name))
		}
	})
	l.read("ThreadNames", []string{"nameId", "globalTid"}, maxThreads, func(r row) {
		t := l.thread(r.num(1))
		l.out.NameThread(t.pid, t.tid, printable(l.string(r.num(0))))
	})
	l.read("MPI_RANKS", []string{"globalPid", "rank"}, maxThreads, func(r row) { l.ranks = append(l.ranks, int(r.num(1))) })
	if len(l.ranks) == 1 && l.ranks[0] >= 0 {
		l.meta.Rank = &l.ranks[0]
	}
	l.nvtxDomains()
}

// What an export may have of each of these; real ones have far less.
const (
	maxStrings  = 1 << 24
	maxSettings = 1 << 20
	maxDevices  = 4096
)

// read reads a small table.
func (l *loader) read(table string, columns []string, most int, add func(row)) {
	if len(l.src.columns(table)) == 0 {
		return
	}
	l.captured[table] = true
	n := int64(0)
	err := l.src.scan(table, columns, func(r row) bool {
		n++
		add(r)
		return n < int64(most)
	})
	if err != nil {
		l.damaged(table, n, err)
	}
}

// addString keeps a string, of which only the first part is of use.
func (l *loader) addString(id int64, value []byte) {
	const most = 64 << 10
	if len(value) > most {
		value = value[:most]
	}
	l.stringBytes += int64(len(value)) + perString
	if l.stringBytes > l.maxStringBytes {
		l.out.Issue(diag.Issue{Code: "strings-left-out", Severity: diag.DataLoss, First: diag.Pos{File: l.file},
			Help: "the strings of the export take more memory than they may; rows that refer to the further ones go by the number of their name; give more with --max-memory SIZE"}, 1)
		return
	}
	l.strings[id] = append([]byte(nil), value...)
	l.graphs = l.graphs || bytes.Contains(value, []byte("GraphLaunch"))
}

// perString is what a string takes beside its bytes.
const perString = 100

// setting looks at one setting of the capture or export.
func (l *loader) setting(name string, value []byte) {
	switch {
	case strings.HasSuffix(name, "CUDA_GRAPH_TRACE_OPTIONS:MODE"):
		l.seen.graphMode = string(value)
	case strings.Contains(name, "ENVIRONMENT_VARIABLE"):
		l.seen.secrets += secretsIn(value)
	}
}

// secretWords are what the names of variables have that hold secrets.
var secretWords = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL"}

// secretsIn counts the variables of an environment that look like secrets. Their
// values are looked at only for being there.
func secretsIn(environment []byte) (n int64) {
	const most = 1 << 20
	text := string(environment[:min(len(environment), most)])
	for _, variable := range strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == 0 || c == ';' }) {
		name, value, ok := strings.Cut(variable, "=")
		if !ok || value == "" || strings.EqualFold(strings.TrimSpace(value), "REDACTED") {
			continue
		}
		name = strings.ToUpper(name)
		for _, word := range secretWords {
			if strings.Contains(name, word) {
				n++
				break
			}
		}
	}
	return n
}
