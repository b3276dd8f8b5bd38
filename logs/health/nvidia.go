package health

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"assay/internal/lazyregexp"
	"assay/internal/redact"
)

const reISO = `\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,:+Z-]*`

var (
	reLink = lazyregexp.New(`^\s*Link (\d{1,3}): (?:([A-Z][A-Za-z _]*?): )?(.+?)\s*$`)
	// "Nov 12 03:04:05 node-7 kernel: [12.3] NVRM: Xid (PCI:0000:3b:00): 79, pid=4, GPU has fallen off the bus."
	// A message follows only what syslog, dmesg and pdsh write: a note that quotes one has other text before it.
	reXid = lazyregexp.New(`^\s*(?:<\d+>)?(?:[^"'\x60#>]*\bkernel: |[\w.-]+: ?|kern *: *\w+ *: *|` + reISO + ` )?(?:\[[ \w:.,]+\] ?)*` +
		`(?:NVRM|nvidia-nvswitch\d*): (S?Xid) \(PCI:([0-9A-Fa-f:.]{7,16})\): (\d{1,5}), ?(.*)`)
	// The date of "dmesg -T", and those of syslog.
	reDate = lazyregexp.New(`\[\w{3} (\w{3}) +(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4})\]|` +
		`^(?:<\d+>)?(\w{3}) +(\d{1,2}) (\d\d:\d\d:\d\d) |^(` + reISO + `) `)
	reLost = lazyregexp.New(`^\s*Unable to determine the device handle for GPU ?(?:\d{1,3}: )?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])`)
	// "[ 12.345678] ", "[Sat Nov 21 08:00:01 2026] ", "host kernel: "
	reKernelLine = lazyregexp.New(`^(?:<\d+>)?\[\s*(?:\d+\.\d+|[A-Z][a-z]{2} [A-Z][a-z]{2} .{4,20})\]|\bkernel: `)
	reKernel     = lazyregexp.New(`(?:^|\s)([A-Za-z0-9][\w.-]{0,62}) kernel: `)
	rePair       = lazyregexp.New(`^(?:NV\d{1,2}|SYS|NODE|PHB|PXB|PIX)$`)
	reProcess    = lazyregexp.New(`^\s*Process \d+ on node (\S{1,64}) managing GPUs? (\d{1,3})`)
	reOfGPU      = lazyregexp.New(`\bGPUs? ?:? ?(\d{1,3}(?:, ?\d{1,3})*)\b`)
)

// nvlink reads the state or a counter of a link.
func (f *Finder) nvlink(line string) bool {
	m := reLink().FindStringSubmatch(line)
	if m == nil || f.gpu == "" {
		return false
	}
	part := "GPU " + f.gpu + " link " + m[1]
	if m[2] != "" {
		return f.read("nvlink", part, m[2], m[3]) || true
	}
	f.add(part, "nvlink.state", "", m[3])
	return true
}

// nearness is the order of connections in the matrix, the closest first. Any number of NVLinks is closer.
var nearness = []string{"PIX", "PXB", "PHB", "NODE", "SYS"}

// topo reads a row of the matrix of "nvidia-smi topo -m": how a GPU is connected with each other one, and with its
// nearest network adapter.
func (f *Finder) topo(line string) bool {
	cells := strings.Split(strings.TrimSpace(line), "\t")
	gpu, ok := strings.CutPrefix(strings.TrimSpace(cells[0]), "GPU")
	if !ok || len(cells) < 2 {
		return strings.HasPrefix(line, "NIC")
	}
	near := len(nearness)
	for i, cell := range cells[1:] {
		if i >= len(f.head) {
			break
		}
		head := strings.TrimSpace(f.head[i])
		other, isGPU := strings.CutPrefix(head, "GPU")
		if cell = strings.TrimSpace(cell); isGPU && rePair().MatchString(cell) && gpu < other {
			f.add("GPU "+gpu+" - GPU "+other, "topo.pair", "", cell)
		}
		if head == "NUMA Affinity" && cell != "" && cell != "N/A" {
			f.add("GPU "+gpu, "topo.numa", "", cell)
		}
		if at := slices.Index(nearness, cell); at >= 0 && (strings.HasPrefix(head, "NIC") || strings.HasPrefix(head, "mlx5")) {
			near = min(near, at)
		}
	}
	if near < len(nearness) {
		f.add("GPU "+gpu, "topo.adapter", "", nearness[near])
	}
	return true
}

// isKernel reports whether a line is of the log of the kernel, by a driver that it names.
func isKernel(line []byte) bool {
	return slices.ContainsFunc(marksKernel, func(mark []byte) bool { return bytes.Contains(line, mark) }) && reKernelLine().Match(line)
}

// kernel reads a line of the log of the kernel: a message of the driver about an error of a GPU (Xid) or of an NVSwitch
// (SXid), or any other, which shows that there is a log.
func (f *Finder) kernel(line string) {
	f.node = ""
	if host := reKernel().FindStringSubmatch(line); host != nil {
		f.node = host[1]
	}
	defer func() { f.node, f.at = "", "" }()
	m := reXid().FindStringSubmatch(line)
	if m == nil {
		if isKernel([]byte(line)) {
			f.add("host", "kernel.log", "", "read")
		}
		return
	}
	part, text := "GPU "+m[2], m[4]
	if m[1] == "SXid" {
		part = "NVSwitch " + m[2]
	}
	for strings.HasPrefix(text, "pid=") || strings.HasPrefix(text, "name=") || strings.HasPrefix(text, "pid='") {
		_, rest, ok := strings.Cut(text, ", ")
		if !ok {
			break
		}
		text = rest
	}
	f.at = dateOf(line)
	f.add(part, strings.ToLower(m[1])+"."+m[3], "", cmp.Or(redact.Cut(text, 120), "no text"))
}

// dateOf returns when a message of the kernel was written: "2026-03-14 09:26:53", or "Mar 14 09:26:53" without a year.
func dateOf(line string) string {
	m := reDate().FindStringSubmatch(line)
	switch {
	case m == nil:
		return ""
	case m[8] != "":
		return m[8][:10] + " " + m[8][11:19]
	case m[5] != "":
		return m[5] + " " + m[6] + " " + m[7]
	}
	if t, err := time.Parse("Jan 2 15:04:05 2006", strings.Join(m[1:5], " ")); err == nil {
		return t.Format(time.DateTime)
	}
	return ""
}

// rasHeading begins the processes that NCCL's RAS cannot reach or misses.
func (f *Finder) rasHeading(line string) {
	switch {
	case strings.Contains(line, "considered dead"):
		f.ras = "ras.dead"
	case strings.Contains(line, "Missing communicator data"):
		f.ras = "ras.missing"
	default:
		return
	}
	f.open, f.left = rasSection, 3
}

func (f *Finder) rasProcess(line string) bool {
	m := reProcess().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	f.node = m[1]
	f.add("GPU "+m[2], f.ras, "", "yes")
	f.node = ""
	return true
}

// cellsOf returns the cells of a row of a table of dcgmi.
func cellsOf(line string) (cells []string) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") || len(line) < 2 {
		return nil
	}
	for cell := range strings.SplitSeq(line[1:len(line)-1], "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

// diagRow reads a row of the table of "dcgmi diag": a test and its result, or the result of
// other GPUs below it. A result is that of the host, of all GPUs, or of those that it lists.
func (f *Finder) diagRow(line string) bool {
	cells := cellsOf(line)
	if len(cells) != 2 {
		return strings.HasPrefix(strings.TrimSpace(line), "+")
	}
	if name := cells[0]; name != "" && !strings.HasPrefix(name, "-") {
		f.part = name
	}
	part, value := "host", cells[1]
	if gpu, rest, ok := strings.Cut(value, ":"); cells[0] == "" && ok && strings.HasPrefix(gpu, "GPU") {
		part, value = "GPU "+strings.TrimPrefix(strings.TrimSpace(gpu), "GPU"), strings.TrimSpace(rest)
	}
	result, rest, _ := strings.Cut(value, " ")
	if !slices.Contains([]string{"Pass", "Fail", "Warn", "Skip"}, result) {
		return true // words of a message, as the rows below it
	}
	m := reOfGPU().FindStringSubmatch(rest)
	switch {
	case m != nil && part == "host":
		for gpu := range strings.SplitSeq(m[1], ",") {
			f.result("GPU "+strings.TrimSpace(gpu), f.part, result)
		}
	case cells[0] != "" || part != "host":
		f.result(part, f.part, result)
	}
	return true
}

// healthRow reads a row of the report of "dcgmi health -c".
func (f *Finder) healthRow(line string) bool {
	cells := cellsOf(line)
	if len(cells) != 2 {
		return strings.HasPrefix(strings.TrimSpace(line), "+")
	}
	name, value := cells[0], cells[1]
	switch depth := strings.TrimLeft(name, "-> "); {
	case strings.HasPrefix(name, "Overall"):
		f.add("host", "dcgm.overall", "", value)
	case depth != "" && strings.Trim(depth, "0123456789") == "":
		f.gpu = depth
	case strings.HasSuffix(depth, "system") && f.gpu != "":
		f.add("GPU "+f.gpu, "dcgm.health", depth, value)
	}
	return true
}
