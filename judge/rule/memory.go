package rule

// The rules on GPU memory, in their order of precedence.
const (
	MemoryExhausted  = "memory-exhausted"
	MemoryPressure   = "memory-pressure"
	MemoryFragmented = "memory-fragmented"
	AllocatorChurn   = "allocator-churn"
	MemoryGrowth     = "memory-growth"
	MemoryOwner      = "memory-owner"
	MemoryUnrecorded = "memory-unrecorded"
)
