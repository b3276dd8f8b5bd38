package health

import (
	"strings"

	"assay/internal/lazyregexp"
	"assay/internal/redact"
)

var (
	reLink = lazyregexp.New(`^\s*Link (\d{1,3}): (?:([A-Z][A-Za-z _]*?): )?(.+?)\s*$`)
	// "Nov 12 03:04:05 node-7 kernel: [12.3] NVRM: Xid (PCI:0000:3b:00): 79, pid=4, GPU has fallen off the bus."
	reXid     = lazyregexp.New(`\b(S?Xid) \(PCI:([0-9A-Fa-f:.]{7,16})\): (\d{1,5}), ?(.*)`)
	reKernel  = lazyregexp.New(`(?:^|\s)([A-Za-z0-9][\w.-]{0,62}) kernel: `)
	rePair    = lazyregexp.New(`^(?:NV\d{1,2}|SYS|NODE|PHB|PXB|PIX)$`)
	reProcess = lazyregexp.New(`^\s*Process \d+ on node (\S{1,64}) managing GPUs? (\d{1,3})`)
	reOfGPU   = lazyregexp.New(`\bGPU ?:? ?(\d{1,3})\b`)
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

// topo reads a row of the matrix of "nvidia-smi topo -m": how each pair of GPUs is connected.
func (f *Finder) topo(line string) bool {
	cells := strings.Split(strings.TrimSpace(line), "\t")
	gpu, ok := strings.CutPrefix(strings.TrimSpace(cells[0]), "GPU")
	if !ok || len(cells) < 2 {
		return strings.HasPrefix(line, "NIC")
	}
	for i, cell := range cells[1:] {
		if i >= len(f.head) {
			break
		}
		other, isGPU := strings.CutPrefix(strings.TrimSpace(f.head[i]), "GPU")
		if cell = strings.TrimSpace(cell); isGPU && rePair().MatchString(cell) && gpu < other {
			f.add("GPU "+gpu+" - GPU "+other, "topo.pair", "", cell)
		}
	}
	return true
}

// xid reads a message of the driver about an error of a GPU (Xid) or of an NVSwitch (SXid).
func (f *Finder) xid(line string) {
	m := reXid().FindStringSubmatch(line)
	if m == nil {
		return
	}
	f.node = ""
	if host := reKernel().FindStringSubmatch(line); host != nil {
		f.node = host[1]
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
	if text = redact.Cut(text, 120); text == "" {
		text = "no text"
	}
	f.add(part, strings.ToLower(m[1])+"."+m[3], "", text)
	f.node = ""
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

// diagRow reads a row of the table of "dcgmi diag": a test and its result, or the result of one GPU below it.
func (f *Finder) diagRow(line string) bool {
	cells := cellsOf(line)
	if len(cells) != 2 {
		return strings.HasPrefix(strings.TrimSpace(line), "+")
	}
	if name := cells[0]; name != "" && !strings.HasPrefix(name, "-") {
		f.part = name
	}
	part, value := "host", cells[1]
	if cells[0] == "" {
		gpu, rest, ok := strings.Cut(value, ":")
		if !ok || !strings.HasPrefix(gpu, "GPU") {
			return true
		}
		part, value = "GPU "+strings.TrimPrefix(strings.TrimSpace(gpu), "GPU"), strings.TrimSpace(rest)
	}
	result, rest, _ := strings.Cut(value, " ")
	switch result {
	case "Pass", "Fail", "Warn", "Skip":
		if m := reOfGPU().FindStringSubmatch(rest); m != nil && part == "host" {
			part = "GPU " + m[1]
		}
		f.add(part, "diag.result", f.part, result)
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
