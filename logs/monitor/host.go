package monitor

import (
	"slices"
	"strconv"
	"strings"

	"assay/logs"
)

// iostatRow reads a line of iostat between its headings: values of the CPU, of a device, or
// the time of a report.
func (f *Finder) iostatRow(line string) bool {
	const producer = "iostat"
	words := strings.Fields(line)
	if len(words) == 0 {
		return true
	}
	if t, ok := dateTime(strings.TrimSpace(line)); ok {
		f.time = t
		f.b.Clock(t, true, strings.Contains(line, "+") || strings.HasSuffix(strings.TrimSpace(line), "Z"))
		return true
	}
	if f.kind == avgCPU {
		if len(words) != len(f.cols) {
			return false
		}
		f.b.Record(producer, false)
		for i, c := range f.cols {
			f.addAfterFirst(producer, "cpu", c, words[i], "iostat cpu", f.round <= 1)
		}
		f.kind = iostat
		f.cols = nil
		return true
	}
	if len(words) != len(f.cols) || len(words) < 2 {
		return false
	}
	at, values, cols := words[0], words[1:], f.cols[1:]
	if n := len(f.cols) - 1; strings.HasPrefix(f.cols[n], "Device") { // of -h and --pretty
		at, values, cols = words[n], words[:n], f.cols[:n]
	}
	if _, number := parse(values[0]); !number {
		return false
	}
	f.b.Record(producer, false)
	for i, c := range cols {
		key := "iostat " + at
		isFirst := f.round <= 1
		if f.round == 0 { // without a report of the CPU (-d) a report begins with a device that was seen before
			isFirst = !f.first["seen "+at+" "+c]
			f.first["seen "+at+" "+c] = true
		}
		f.addAfterFirst(producer, "iostat", c, values[i], key, isFirst, logs.Label{Name: "device", Value: at})
	}
	return true
}

// vmstatRow reads a row of vmstat. Its first one is the mean since the start.
func (f *Finder) vmstatRow(words []string) bool {
	cols := f.cols
	if len(words) == len(cols)+1 { // -t: the date and the time are in one column, named by the zone
		if t, ok := dateTime(strings.Join(words[len(words)-2:], " ")); ok {
			f.time = t
			f.b.Clock(t, true, cols[len(cols)-1] == "UTC")
			cols, words = cols[:len(cols)-1], words[:len(words)-2]
		}
	}
	if len(words) != len(cols) {
		return false
	}
	if _, err := strconv.ParseInt(words[0], 10, 64); err != nil {
		return false
	}
	f.b.Record("vmstat", false)
	isFirst := !f.first["vmstat row"]
	f.first["vmstat row"] = true
	for i, c := range cols {
		f.addAfterFirst("vmstat", "vmstat", c, words[i], "vmstat", isFirst)
	}
	if user, ok := find(cols, words, "id"); ok {
		f.use("vmstat", user, "vmstat", isFirst)
	}
	return true
}

// find returns the number in a column.
func find(cols, words []string, name string) (float64, bool) {
	for i, c := range cols {
		if c == name && i < len(words) {
			return parse(words[i])
		}
	}
	return 0, false
}

// use adds the share of the time in which the CPU was in use: 1 minus the idle share.
func (f *Finder) use(producer string, idle float64, key string, isFirst bool, labels ...logs.Label) {
	metric, _ := logs.MetricOf("host.cpu_util")
	id := f.b.Of(metric, producer, "100 - idle", labels, f.at)
	v := max(0, (100-idle)/100)
	if overLimit(metric, idle/100) {
		f.b.Missing(id)
	} else if !isFirst {
		f.b.Add(id, v, logs.NoStep, f.time, 0)
	} else if len(f.held) < 1<<16 {
		f.held = append(f.held, held{id, v, f.time, key})
	}
}

// sysHeader begins a table of mpstat, pidstat or sar, whose headings begin with a time. "sar
// -A" has more than forty tables; see wanted for those that are read. The heading of another
// table ends the open one, because its rows may have the same number of columns.
func (f *Finder) sysHeader(words []string) bool {
	rest, ok := f.sysTime(words)
	if !ok || strings.HasPrefix(words[0], "Average") {
		return false
	}
	for _, w := range rest {
		if _, number := parse(w); number {
			return false
		}
	}
	if rest[0] != "UID" && rest[0] != "PID" && rest[0] != "TGID" && !isSysHeading(rest) {
		return false
	}
	f.kind, f.cols = sysstat, append([]string{"Time"}, rest...)
	return true
}

// isSysHeading reports whether words are the heading of a table of mpstat or sar: names of
// rates and shares, or of one of the tables that count.
func isSysHeading(words []string) bool {
	switch words[0] {
	case "CPU", "INTR", "IFACE", "DEV", "TTY", "runq-sz", "totsck", "tcp6sck", "dentunusd":
		return true
	}
	for _, w := range words {
		if strings.HasPrefix(w, "kb") || strings.HasPrefix(w, "MB") || strings.HasPrefix(w, "%") || strings.HasSuffix(w, "/s") {
			return true
		}
	}
	return false
}

// wanted reports whether the table with the given columns is read: of the CPUs, memory, load,
// disks, interfaces, paging and pressure.
func wanted(cols []string) bool {
	switch cols[0] {
	case "CPU":
		return slices.Contains(cols, "%idle")
	case "IFACE":
		return slices.Contains(cols, "rxkB/s")
	case "DEV", "kbmemfree", "runq-sz", "pgpgin/s", "tps", "pswpin/s", "%scpu-10", "%sio-10", "%smem-10":
		return true
	}
	return false
}

// sysTime sets the time from a line of sysstat, and returns the words after it.
func (f *Finder) sysTime(words []string) ([]string, bool) {
	if len(words) < 2 {
		return nil, false
	}
	if t, ok := secondsOf(words[0]); ok {
		rest := words[1:]
		if rest[0] == "AM" || rest[0] == "PM" {
			t, rest = halfDay(t, rest[0]), rest[1:]
		}
		f.setTime(t, false)
		return rest, len(rest) > 0
	}
	if n, err := strconv.ParseInt(words[0], 10, 64); err == nil && n > 1e9 && n < 1<<33 {
		f.time = n * second
		f.b.Clock(f.time, true, true)
		return words[1:], true
	}
	return nil, false
}

// sysRow reads a row of mpstat, pidstat or sar.
func (f *Finder) sysRow(line string) bool {
	words := strings.Fields(line)
	if len(words) == 0 || len(f.cols) == 0 {
		return len(words) == 0
	}
	if strings.HasPrefix(words[0], "Average") || strings.HasPrefix(words[0], "Summary") {
		return true
	}
	rest, ok := f.sysTime(words)
	cols := f.cols[1:]
	if !ok || len(rest) < len(cols) {
		return false
	}
	switch {
	case cols[len(cols)-1] == "Command":
		return f.processRow(cols, rest)
	case len(rest) != len(cols):
		return false
	}
	producer, table, labels := "sar", "sar", []logs.Label(nil)
	first := 0
	if !wanted(cols) {
		return true
	}
	switch cols[0] {
	case "CPU":
		producer, table, first = "mpstat", "cpu", 1
		labels = []logs.Label{{Name: "cpu", Value: rest[0]}}
		if slices.Contains(cols, "%user") || slices.Index(cols, "%steal") < slices.Index(cols, "%irq") {
			producer = "sar" // which has the same columns with -u ALL, in another order
		}
		idle, ok := find(cols, rest, "%idle")
		if ok {
			f.use(producer, idle, "", false, labels...)
		}
	case "IFACE", "DEV":
		first = 1
		labels = []logs.Label{{Name: "device", Value: rest[0]}}
		if cols[0] == "DEV" {
			table = "iostat"
		}
	}
	f.b.Record(producer, false)
	for i, c := range cols[first:] {
		f.add(producer, table, c, rest[first+i], labels...)
	}
	return true
}

// processRow reads a row of pidstat, whose command may have spaces.
func (f *Finder) processRow(cols, rest []string) bool {
	n := len(cols) - 1
	pid := ""
	for i, c := range cols[:n] {
		if c == "PID" || c == "TGID" && rest[i] != "-" {
			pid = rest[i]
		}
	}
	if pid == "" {
		return false
	}
	f.b.Record("pidstat", false)
	label := logs.Label{Name: "process", Value: strings.Join(rest[n:], " ") + " " + pid}
	for i, c := range cols[:n] {
		if c == "PID" || c == "TGID" || c == "TID" || rest[i] == "-1.00" { // -1 is not permitted to know
			continue
		}
		f.add("pidstat", "pidstat", c, rest[i], label)
	}
	return true
}
