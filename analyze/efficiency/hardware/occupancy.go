package hardware

// An SM has what one multiprocessor of a compute capability can hold at a time.
type SM struct {
	major, minor int
	Threads      int64 // resident threads
	Blocks       int64 // resident blocks
	Registers    int64
	Shared       int64 // bytes of shared memory
	unit         int64 // bytes in which shared memory is allocated
	reserved     int64 // bytes of shared memory that the system takes of each block
}

// sms are the limits in the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", and
// in the tuning guides of the architectures, which say what the system reserves of shared memory.
var sms = []SM{
	{7, 0, 2048, 32, 64 << 10, 96 << 10, 256, 0},
	{7, 5, 1024, 16, 64 << 10, 64 << 10, 256, 0},
	{8, 0, 2048, 32, 64 << 10, 164 << 10, 128, 1 << 10},
	{8, 6, 1536, 16, 64 << 10, 100 << 10, 128, 1 << 10},
	{8, 9, 1536, 24, 64 << 10, 100 << 10, 128, 1 << 10},
	{9, 0, 2048, 32, 64 << 10, 228 << 10, 128, 1 << 10},
	{10, 0, 2048, 32, 64 << 10, 228 << 10, 128, 1 << 10},
	{12, 0, 1536, 24, 64 << 10, 100 << 10, 128, 1 << 10},
}

// SMOf returns the limits of a compute capability of NVIDIA, or false if they are not known.
func SMOf(major, minor int) (SM, bool) {
	for _, s := range sms {
		if s.major == major && s.minor == minor {
			return s, true
		}
	}
	return SM{}, false
}

const (
	warp           = 32
	warpRegisters  = 256 // the unit in which registers of a warp are allocated
	partitions     = 4   // of an SM: its registers are divided equally, and the warps of a block are spread over them
	unlimited      = 1 << 40
	mostRegisters  = 255     // of a thread
	mostBlock      = 1024    // threads of a block
	mostSharedSize = 1 << 20 // bytes; more is no size of shared memory
)

// A Limiter is what limits the blocks that an SM holds at a time.
type Limiter string

// The limiters. Those of the SM come before that of the grid.
const (
	ByThreads   Limiter = "block size" // threads, or the number of blocks
	ByRegisters Limiter = "registers"
	ByShared    Limiter = "shared memory"
	ByGrid      Limiter = "grid"
)

// Resident returns how many blocks of a kernel an SM can hold at a time, and what limits it. Registers are those
// of a thread, shared the bytes of a block. It returns false for what no kernel has.
func (s SM) Resident(threads, registers, shared int64) (blocks int64, by Limiter, ok bool) {
	if threads < 1 || threads > mostBlock || registers < 0 || registers > mostRegisters || shared < 0 || shared > mostSharedSize {
		return 0, "", false
	}
	warps := up(threads, warp) / warp
	blocks, by = min(s.Blocks, s.Threads/warp/warps), ByThreads
	byRegisters, byShared := int64(unlimited), int64(unlimited)
	if registers > 0 {
		byRegisters = partitions * (s.Registers / partitions / up(registers*warp, warpRegisters)) / warps
	}
	if size := up(shared, s.unit) + s.reserved; size > 0 {
		byShared = s.Shared / size
	}
	if byRegisters < blocks {
		blocks, by = byRegisters, ByRegisters
	}
	if byShared < blocks {
		blocks, by = byShared, ByShared
	}
	return blocks, by, blocks > 0
}

func up(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
