package tracegen

import (
	"cmp"
	"slices"
	"strings"
)

// A pool is the memory of one device, or of the host, and what is known of it.
type pool struct {
	s          *scene
	deviceType int64 // as PyTorch numbers them: 0 CPU, 1 CUDA, 6 HIP
	use        MemoryUse
	allocated  int64
	reserved   int64
	next       int64            // the next address
	live       map[int64]*block // by address
	known      bool             // an event was written
}

// A block is memory that was allocated in the trace.
type block struct {
	address, bytes int64
	op, module     string
}

// A change is one event of the allocator.
type change struct {
	th                  *thread
	at                  int64
	address, bytes      int64
	allocated, reserved int64
	pool                *pool
}

// Device types of PyTorch.
const (
	typeHost = 0
	typeCUDA = 1
	typeHIP  = 6
)

func (s *scene) pool(deviceType int64, device int, allocated, reserved int64) *pool {
	p := &pool{s: s, deviceType: deviceType, allocated: allocated, reserved: reserved, next: 0x7f1e_0000_0000, live: map[int64]*block{}}
	p.use = MemoryUse{OnHost: deviceType == typeHost, Device: device}
	s.pools = append(s.pools, p)
	return p
}

// alloc has the innermost operator of t allocate memory, at an address that
// nothing else has unless one is given.
func (p *pool) alloc(t *thread, bytes int64, at ...int64) *block {
	b := &block{address: p.next, bytes: bytes}
	if len(at) > 0 {
		b.address = at[0]
	} else {
		p.next += bytes
	}
	path := append(t.open.path(), t.open)
	b.op, b.module = innermostOp(path), moduleOf(path)
	p.live[b.address] = b
	p.use.Allocs++
	p.change(t, b.address, bytes)
	return b
}

// free has t give back what was allocated in the trace.
func (p *pool) free(t *thread, b *block) {
	delete(p.live, b.address)
	p.use.Frees++
	p.change(t, b.address, -b.bytes)
}

// freeOld has t give back what is older than the trace.
func (p *pool) freeOld(t *thread, address, bytes int64) {
	p.use.Frees++
	p.change(t, address, -bytes)
}

func (p *pool) change(t *thread, address, bytes int64) {
	if !p.known {
		p.known, p.use.StartAllocated = true, p.allocated
	}
	p.allocated += bytes
	p.s.changes = append(p.s.changes, change{t, t.now, address, bytes, p.allocated, p.reserved, p})
	p.use.PeakReserved = max(p.use.PeakReserved, p.reserved)
	if p.allocated > p.use.PeakAllocated {
		p.use.PeakAllocated, p.use.PeakNS = p.allocated, t.now
		p.use.Live, p.use.LiveBytes = p.owners()
	}
}

// owners returns what is live now, by who allocated it.
func (p *pool) owners() (rows []LiveMemory, sum int64) {
	for _, b := range p.live {
		sum += b.bytes
		i := slices.IndexFunc(rows, func(r LiveMemory) bool { return r.Op == b.op && r.Module == b.module })
		if i < 0 {
			i = len(rows)
			rows = append(rows, LiveMemory{Op: b.op, Module: b.module})
		}
		rows[i].Bytes += b.bytes
		rows[i].Count++
	}
	slices.SortFunc(rows, func(a, b LiveMemory) int {
		return cmp.Or(-cmp.Compare(a.Bytes, b.Bytes), strings.Compare(a.Op, b.Op), strings.Compare(a.Module, b.Module))
	})
	return rows, sum
}
