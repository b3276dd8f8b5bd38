package comm

import (
	"cmp"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/logs"
)

const (
	sourceNCCL     = "NCCL log"
	sourceWatchdog = "watchdog"
)

var (
	reInit     = lazyregexp.New(`comm (0x[0-9a-f]+) rank (\d{1,7}) n[rR]anks (\d{1,7})(?:.*?commId (0x[0-9a-f]+))?`)
	reNodes    = lazyregexp.New(`nNodes (\d{1,6}) `)
	reVia      = lazyregexp.New(`^Channel \S+ ?: \d+\[[0-9a-f]+\] -> \d+\[[0-9a-f]+\].* via (NET/\w+(?: [A-Z]\w*)?\S*|\S+)`)
	reCalls    = lazyregexp.New(`^(\w+): opCount [0-9a-f]+ .*?count (\d+) datatype (\d+) op \d+ root (\d+) comm (0x[0-9a-f]+)`)
	reChans    = lazyregexp.New(`^(\d{1,5}) coll channels`)
	reVersion  = lazyregexp.New(`[NR]CCL version ?:? (\d[\w.+\-]*)`)
	reWatchdog = lazyregexp.New(`\[([^\[\]]*)Rank (\d{1,7})\] Watchdog caught collective operation timeout: Work\w*\(SeqNum=(\d+), OpType=(\w+), NumelIn=(\d+), NumelOut=(\d+), Timeout\(ms\)=(\d+)\) ran for (\d+) milliseconds`)
	reEnqueue  = lazyregexp.New(`\[([^\[\]]*)Rank (\d{1,7})\](?:[^\[\]]*? at work: (\d+))?[^\[\]]*?last enqueued (?:NCCL )?work: (-?\d+), last (?:completed|started) (?:NCCL )?work: (-?\d+)`)
	reRank     = lazyregexp.New(`\[rank(\d{1,7})\]:`)
	reGUID     = lazyregexp.New(`\[PG (?:ID \d+ PG GUID )?(\d+)(?: ?\((\w+)\))? Rank`)
)

// ncclLine reads the records of a line.
func (f *Finder) ncclLine(line string) {
	if m := reVersion().FindStringSubmatch(line); m != nil && f.version == "" {
		f.version = m[1]
		f.b.Record("NCCL", false)
	}
	for rest := line; ; {
		i := strings.Index(rest, " NCCL ")
		if i < 0 {
			break
		}
		prefix, text := rest[:i], rest[i+len(" NCCL "):]
		next := strings.Index(text, " NCCL ")
		record := text
		if next >= 0 {
			record = text[:next]
		}
		if kind, body, ok := strings.Cut(record, " "); ok {
			f.record(process(prefix), kind, body)
		}
		rest = text
	}
	if strings.Contains(line, "ran for ") || strings.Contains(line, "last enqueued") {
		f.watchdog(line)
	}
}

// process returns the process of a line, which the text before " NCCL" identifies:
// "node1:7614:7691 [0]".
func process(prefix string) string {
	prefix = strings.TrimSpace(prefix)
	if i := strings.LastIndexByte(prefix, ' '); i >= 0 && strings.HasPrefix(prefix[i+1:], "[") {
		prefix = prefix[:i]
	}
	words := strings.Split(prefix[strings.LastIndexByte(prefix, ' ')+1:], ":")
	if len(words) < 2 {
		return ""
	}
	return words[len(words)-2]
}

// record reads one record.
func (f *Finder) record(process, kind, text string) {
	switch kind {
	case "WARN":
		f.b.Record("NCCL", false)
		f.b.Note(diag.Issue{Code: "nccl-warning", Severity: diag.Suspect, First: f.at,
			Help: "NCCL printed warnings; the first one is at this line. If the job failed or hung, the cause is often the first warning of the first process that has one."})
		return
	case "INFO":
	default:
		return
	}
	f.b.Record("NCCL", false)
	switch {
	case strings.Contains(text, " rank ") && strings.Contains(text, "anks "):
		if m := reInit().FindStringSubmatch(text); m != nil {
			f.init(process, m, text)
		}
	case strings.HasPrefix(text, "Channel "):
		if g := f.last[process]; g != nil {
			if m := reVia().FindStringSubmatch(text); m != nil {
				if g.Transports == nil {
					g.Transports = map[string]int64{}
				}
				if t := transport(m[1]); g.Transports[t] > 0 || len(g.Transports) < 32 {
					g.Transports[t]++
				}
			}
		}
	case strings.Contains(text, ": opCount "):
		if m := reCalls().FindStringSubmatch(text); m != nil {
			f.call(process, m)
		}
	case strings.Contains(text, " coll channels"):
		if m, g := reChans().FindStringSubmatch(text), f.last[process]; m != nil && g != nil {
			g.Channels, _ = strconv.Atoi(m[1])
		}
	}
}

// transport returns a transport without the numbers of devices: "NET/IB/GDRDMA".
func transport(via string) string {
	var out []string
	for part := range strings.SplitSeq(via, "/") {
		part = strings.TrimRight(part, ",;")
		if at := strings.IndexByte(part, '('); at > 0 {
			part = part[:at]
		}
		if !isInt(part) && part != "" {
			out = append(out, part)
		}
	}
	return strings.Join(out[:min(len(out), 4)], "/")
}

// init records the group that a process creates.
func (f *Finder) init(process string, m []string, text string) {
	pointer, name := m[1], m[4]
	key := process + " " + pointer
	g := f.groups[key]
	if g != nil && name != "" && g.Name != name && strings.HasPrefix(g.Name, "0x") && g.Name != pointer { // the memory was used again
		g = nil
	}
	if g == nil {
		if len(f.order) >= logs.MaxGroups {
			f.b.Note(diag.Issue{Code: "groups-left-out", Severity: diag.DataLoss, First: f.at})
			return
		}
		g = &logs.Group{
			Source: sourceNCCL, Name: pointer, Rank: -1, Place: number(m[2]), Size: number(m[3]),
			LastEnqueued: -1, LastCompleted: -1, Version: f.version,
		}
		f.groups[key], f.byPointer[g] = g, true
		f.order = append(f.order, g)
	}
	if name != "" {
		g.Name = name
		delete(f.byPointer, g)
	}
	f.last[process] = g
	if n := reNodes().FindStringSubmatch(text); n != nil {
		g.Nodes = number(n[1])
	}
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

var dtypes = []string{
	"int8", "uint8", "int32", "uint32", "int64", "uint64",
	"float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2",
}

// call counts a call of a group.
func (f *Finder) call(process string, m []string) {
	g := f.groups[process+" "+m[5]]
	if g == nil {
		return
	}
	op := logs.GroupOp{Op: m[1], Dtype: m[3], Peer: -1}
	op.Count, _ = strconv.ParseInt(m[2], 10, 64)
	if n := number(m[3]); n < len(dtypes) {
		op.Dtype = dtypes[n]
	}
	if op.Op == "Send" || op.Op == "Recv" {
		op.Peer = number(m[4])
	}
	key := opKey{g, op}
	i, ok := f.ops[key]
	if !ok {
		if len(g.Ops) >= logs.MaxGroupOps {
			f.b.Note(diag.Issue{Code: "group-calls-left-out", Severity: diag.DataLoss, First: f.at})
			return
		}
		i = len(g.Ops)
		f.ops[key] = i
		g.Ops = append(g.Ops, op)
	}
	g.Ops[i].Calls++
}

// watchdog reads the messages of PyTorch's watchdog in a line. Processes write to one
// terminal without waiting for each other, so a message may begin within the line of
// another process. The rank of a message is therefore the last one before it.
func (f *Finder) watchdog(line string) {
	from, rank := 0, -1
	for _, at := range reRank().FindAllStringSubmatchIndex(line, -1) {
		f.messages(line[from:at[0]], rank)
		from, rank = at[0], number(line[at[2]:at[3]])
	}
	f.messages(line[from:], rank)
}

// messages reads the messages of a process. The rank is used for the first time-out only,
// because a later one that does not repeat the rank may be from another process.
func (f *Finder) messages(text string, rank int) {
	from, by := 0, rank
	for _, at := range reWatchdog().FindAllStringIndex(text, -1) {
		f.timeout(text[from:at[1]], by)
		from, by = at[1], -1
	}
	if m := reEnqueue().FindStringSubmatch(text); m != nil {
		key := "dog " + strconv.Itoa(rank) + " " + m[2]
		if f.groups[key] == nil && m[3] != "" && rank >= 0 && len(f.order) < logs.MaxGroups {
			f.b.Record("PyTorch watchdog", false)
			seq, _ := strconv.ParseInt(m[3], 10, 64)
			f.watchdogGroup(key, &logs.Group{Rank: rank, Place: number(m[2]), Pending: []logs.PendingOp{{Seq: seq, State: "timeout", Created: logs.NoTime}}})
		}
		if g := f.groups[key]; g != nil {
			g.LastEnqueued, _ = strconv.ParseInt(m[4], 10, 64)
			g.LastCompleted, _ = strconv.ParseInt(m[5], 10, 64)
			f.nameWatchdogGroup(text, watchdogKey{rank: rank, place: number(m[2])})
		}
	}
}

// timeout reads the message of a time-out, which is printed several times.
func (f *Finder) timeout(line string, rank int) {
	if m := reWatchdog().FindStringSubmatch(line); m != nil {
		seq, _ := strconv.ParseInt(m[3], 10, 64)
		ran, _ := strconv.ParseInt(m[8], 10, 64)
		key := watchdogKey{rank, number(m[2]), seq, ran}
		if rank < 0 { // the message of the exception repeats it without the rank
			for k := range f.watchdogs {
				if k.place == key.place && k.seq == seq && k.ran == ran {
					return
				}
			}
		}
		if f.watchdogs[key] || len(f.watchdogs) >= logs.MaxGroups {
			f.nameWatchdogGroup(line, key)
			return
		}
		f.watchdogs[key] = true
		f.b.Record("PyTorch watchdog", false)
		op := strings.ToLower(m[4])
		shape := ""
		if m[5] != "0" {
			shape = m[5] + " elements"
		}
		f.watchdogGroup("dog "+strconv.Itoa(rank)+" "+m[2], &logs.Group{Rank: rank, Place: key.place,
			Pending: []logs.PendingOp{{Op: op, Seq: seq, State: "timeout", Created: logs.NoTime, Ran: ran * 1e6, Shape: shape}}})
		f.nameWatchdogGroup(line, key)
	}
}

// watchdogGroup adds a group of a process about which the watchdog printed a message.
func (f *Finder) watchdogGroup(key string, g *logs.Group) {
	g.Source, g.Version, g.LastEnqueued, g.LastCompleted = sourceWatchdog, f.version, -1, -1
	f.groups[key] = g
	f.order = append(f.order, g)
}

// completeWatchdogs fills in what the messages of some processes lack and those of others have: the group of a
// call that is one of a known group, by its operation, number and size; and the operation of a call of which only the
// number was logged. Calls that several groups can have stay as they are.
func (f *Finder) completeWatchdogs() {
	names, calls := map[logs.PendingOp]*logs.Group{}, map[logs.PendingOp]*logs.PendingOp{}
	same := func(p logs.PendingOp) logs.PendingOp { return logs.PendingOp{Op: p.Op, Seq: p.Seq, Shape: p.Shape} }
	var dogs []*logs.Group
	for _, g := range f.order {
		if g.Source == sourceWatchdog {
			dogs = append(dogs, g)
		}
	}
	for _, g := range dogs {
		p := &g.Pending[0]
		if p.Op == "" {
			continue
		}
		if known, ok := names[same(*p)]; g.Name != "" && ok && known.Name != g.Name {
			names[same(*p)] = &logs.Group{}
		} else if g.Name != "" {
			names[same(*p)] = g
		}
		for _, name := range []string{"", g.Name} {
			key := logs.PendingOp{Op: name, Seq: p.Seq}
			if known := calls[key]; known != nil && same(*known) != same(*p) {
				calls[key] = &logs.PendingOp{}
			} else {
				calls[key] = p
			}
		}
	}
	for _, g := range dogs {
		p := &g.Pending[0]
		if known := names[same(*p)]; g.Name == "" && known != nil {
			g.Name, g.Desc = known.Name, known.Desc
		}
		if known := cmp.Or(calls[logs.PendingOp{Op: g.Name, Seq: p.Seq}], calls[logs.PendingOp{Seq: p.Seq}]); p.Op == "" && known != nil {
			p.Op, p.Shape = known.Op, known.Shape
		}
		p.Op = cmp.Or(p.Op, "collective")
	}
}

// nameWatchdogGroup sets the name of a group from a message of the watchdog.
func (f *Finder) nameWatchdogGroup(line string, key watchdogKey) {
	g := f.groups["dog "+strconv.Itoa(key.rank)+" "+strconv.Itoa(key.place)]
	if m := reGUID().FindStringSubmatch(line); m != nil && g != nil && g.Name == "" {
		g.Name, g.Desc = m[1], m[2]
	}
}
