package tracegen

import (
	"cmp"
	"slices"
	"strings"
)

// A pool is the memory of one device, or of the host, with its history.
type pool struct {
	s          *scene
	deviceType int64 // PyTorch's numbers: 0 CPU, 1 CUDA, 6 HIP
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
	th   *thread
	at   int64
	pool *pool
	allocation
}

// firstAddress is the address of a pool's first allocation.
const firstAddress = 0x7f1e_0000_0000

// Device types of PyTorch.
const (
	typeHost = 0
	typeCUDA = 1
	typeHIP  = 6
)

func (s *scene) pool(deviceType int64, device int, allocated, reserved int64) *pool {
	p := &pool{
		s: s, deviceType: deviceType, allocated: allocated, reserved: reserved, next: firstAddress, live: map[int64]*block{},
		use: MemoryUse{OnHost: deviceType == typeHost, Device: device},
	}
	s.pools = append(s.pools, p)
	return p
}

// alloc makes the innermost operator of t allocate memory, at a unique address
// unless one is given.
func (p *pool) alloc(t *thread, bytes int64, at ...int64) *block {
	path := append(t.open.path(), t.open)
	b := &block{address: p.next, bytes: bytes, op: innermostOp(path), module: moduleOf(path)}
	if len(at) > 0 {
		b.address = at[0]
	} else {
		p.next += bytes
	}
	p.take(b, t.now)
	p.changed(t, b.address, bytes)
	return b
}

// free makes t free memory that was allocated in the trace.
func (p *pool) free(t *thread, b *block) {
	p.give(b)
	p.changed(t, b.address, -b.bytes)
}

// freeOld makes t free memory that is older than the trace.
func (p *pool) freeOld(t *thread, address, bytes int64) {
	p.give(&block{address: address, bytes: bytes})
	p.changed(t, address, -bytes)
}

// changed records the allocator's event for a change.
func (p *pool) changed(t *thread, address, bytes int64) {
	p.s.changes = append(p.s.changes, change{t, t.now, p, allocation{address, bytes, p.allocated, p.reserved}})
}

// take accounts for an allocation.
func (p *pool) take(b *block, now int64) {
	p.begin()
	p.use.Allocs++
	p.live[b.address] = b
	p.allocated += b.bytes
	if p.allocated > p.use.PeakAllocated {
		p.use.PeakAllocated, p.use.PeakNS = p.allocated, now
		p.use.Live, p.use.LiveBytes = p.owners()
	}
}

// give accounts for a release.
func (p *pool) give(b *block) {
	p.begin()
	p.use.Frees++
	delete(p.live, b.address)
	p.allocated -= b.bytes
}

// begin records the memory before the first change.
func (p *pool) begin() {
	if !p.known {
		p.known, p.use.StartAllocated = true, p.allocated
	}
	p.use.PeakReserved = max(p.use.PeakReserved, p.reserved)
}

// owners returns the allocated memory, by allocation site.
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
