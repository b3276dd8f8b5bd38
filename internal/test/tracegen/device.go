package tracegen

import (
	"strconv"
	"strings"
)

// launch writes the runtime call of p, if it has one, and the tail of its
// arrow.
func (g *generator) launch(d *deviceRun, p *placed) {
	if g.sc.CPUOnly {
		return
	}
	if !p.launched && p.Kind != HostOnly {
		p.correlation = d.ops[d.graphs[p.Graph]].correlation
		return
	}
	c := g.dialect.callOf(p.Op)
	if c.name == "" {
		return
	}
	g.ids.correlation++
	p.correlation = g.ids.correlation
	inset := g.inset(p, len(p.Host))
	ts, dur := p.slot+inset, p.slotEnd-p.slot-2*inset
	at := g.thread(d, p.Backward)
	g.runtime(c, at, ts, dur, p)
	g.tellCall(d, p, c, at, ts, dur)
	if p.Kind != HostOnly {
		g.launchFlow("s", c.name, p.correlation, at, ts)
	}
}

// runtime writes a call of the runtime or driver.
func (g *generator) runtime(c call, at track, ts, dur int64, p *placed) {
	g.slice(c.category, c.name, at, ts, dur)
	g.args()
	switch {
	case g.dialect.Vendor == ROCm:
		g.externalID(p)
		g.hipArgs(c, p)
	case g.dialect.Era == Era2022:
		g.int("cbid", c.number)
		g.int("correlation", p.correlation)
		g.br()
		g.int("external id", p.external)
		g.time("external ts", ts)
	default:
		g.externalID(p)
		g.int("cbid", c.number)
		g.int("correlation", p.correlation)
	}
	g.endArgs()
}

// externalID writes the link to the innermost host operator, if there is one.
func (g *generator) externalID(p *placed) {
	switch {
	case g.dialect.Era == Era2022:
		g.int("external id", p.external)
	case p.external != 0:
		g.int("External id", p.external)
	}
}

// hipArgs writes roctracer's arguments of a call. The call has a copy's size,
// as text; the copy itself does not.
func (g *generator) hipArgs(c call, p *placed) {
	if p.Kind == Compute && p.Graph == 0 || p.Kind == Comm {
		g.str("kernel", p.Name)
	}
	g.int("cid", c.number)
	g.int("correlation", p.correlation)
	switch p.Kind {
	case Copy:
		g.str("src", "0x7fda0e000000")
		g.str("dst", "0x7fda0e810200")
		g.str("size", strconv.FormatInt(p.Bytes, 10))
		g.str("kind", strconv.Itoa(1+strings.Index("HtoDDtoH", copyKind(p.Name))/4))
	case Compute, Comm:
		if p.Graph == 0 {
			g.geometry(p.Op)
			g.int("shared memory", 0)
		}
	}
}

// copyKind returns the "HtoD" of "Memcpy HtoD (Pageable -> Device)".
func copyKind(name string) string {
	_, kind, _ := strings.Cut(name, " ")
	kind, _, _ = strings.Cut(kind, " ")
	return kind
}

// deviceEvent writes the event of p on its device and the head of its arrow.
func (g *generator) deviceEvent(d *deviceRun, p *placed) {
	category := "kernel"
	switch p.Kind {
	case Copy:
		category = "gpu_memcpy"
	case Memset:
		category = "gpu_memset"
	}
	at := track{pid: int64(d.Ordinal), tid: int64(p.Stream)}
	g.slice(category, p.Name, at, p.start, p.dur)
	g.args()
	if g.dialect.Vendor == ROCm {
		g.rocmArgs(d, p)
	} else {
		g.cudaArgs(d, p)
	}
	g.endArgs()
	g.launchFlow("f", g.dialect.callOf(p.Op).name, p.correlation, at, p.start)
	g.tellWork(d, p)
}

func (g *generator) cudaArgs(d *deviceRun, p *placed) {
	old := g.dialect.Era == Era2022
	if !old {
		g.externalID(p)
	}
	kernel := p.Kind == Compute || p.Kind == Comm
	if kernel {
		g.int("queued", 0)
	}
	g.int("device", int64(d.Ordinal))
	g.int("context", 1)
	g.br()
	g.int("stream", int64(p.Stream))
	g.int("correlation", p.correlation)
	if old {
		g.externalID(p)
	}
	g.br()
	if !kernel {
		g.int("bytes", p.Bytes)
		if p.dur > 0 {
			g.key("memory bandwidth (GB/s)")
			g.thousandths(p.Bytes * 1000 / p.dur)
		} else if old {
			g.str("memory bandwidth (GB/s)", "N/A")
		}
		return
	}
	g.int("registers per thread", registersOf(p.Op))
	g.br()
	g.int("shared memory", sharedMemoryOf(p.Op))
	g.br()
	blocks, threads := gridOf(p.Op), blockOf(p.Op)
	g.key("blocks per SM")
	g.thousandths(blocks * 1000 / 132)
	g.br()
	g.key("warps per SM")
	g.thousandths(blocks * threads / 32 * 1000 / 132)
	g.br()
	g.geometry(p.Op)
	g.br()
	g.int("est. achieved occupancy %", min(100, blocks*threads*100/(132*2048)))
	if p.Graph != 0 && g.dialect.Era == Modern {
		g.br()
		g.int("graph id", int64(p.Graph))
		g.int("graph node id", int64(p.segment))
	}
	if p.Collective != nil && g.dialect.Era <= Era2024 {
		g.br()
		g.collective(p.Collective)
	}
}

func (g *generator) rocmArgs(d *deviceRun, p *placed) {
	if p.Graph == 0 {
		g.externalID(p)
	}
	g.int("device", int64(d.Ordinal))
	g.int("stream", int64(p.Stream))
	g.br()
	g.int("correlation", p.correlation)
	switch {
	case p.Kind == Copy:
		g.str("kind", copyKind(p.Name))
	case p.Kind == Memset:
		g.str("kind", "FillBuffer")
	case p.Graph != 0:
		g.str("kind", "Dispatch Task")
	default:
		g.str("kind", "Dispatch Kernel")
		g.br()
		g.geometry(p.Op)
	}
}

// gridOf and blockOf return an op's blocks and threads per block, registersOf
// and sharedMemoryOf the resources of a thread and a block: numbers that differ
// between kernels and are the same for every call of one.
func gridOf(op *Op) int64         { return 8 + int64(len(op.Name)*37%1009) }
func blockOf(op *Op) int64        { return 64 << (len(op.Name) % 4) }
func registersOf(op *Op) int64    { return 16 + int64(len(op.Name)%14)*8 }
func sharedMemoryOf(op *Op) int64 { return int64(len(op.Name)%5) * 8192 }

func (g *generator) geometry(op *Op) {
	g.ints("grid", gridOf(op), 1, 1)
	g.br()
	g.ints("block", blockOf(op), 1, 1)
}

func (g *generator) collective(c *Collective) {
	g.str("Collective name", c.Name)
	g.int("In msg nelems", c.Elems)
	g.int("Out msg nelems", c.Elems)
	g.int("Group size", int64(g.sc.Ranks))
	g.str("dtype", c.DType)
	g.str("In split size", "[]")
	g.str("Out split size", "[]")
	if g.dialect.Era == Era2024 {
		g.int("Process Group ID", 0)
		return
	}
	g.str("Process Group Name", "0")
	g.str("Process Group Description", "default_pg")
	g.str("Process Group Ranks", g.group)
}
