package hardware

import "testing"

// TestResident: blocks of an SM by hand. A warp of 32 threads takes its registers in units of 256.
func TestResident(t *testing.T) {
	for _, tc := range []struct {
		major, minor               int
		threads, registers, shared int64
		blocks                     int64
		by                         Limiter
	}{
		{9, 0, 1024, 32, 0, 2, ByThreads},         // 2,048 threads; registers allow 2 as well
		{9, 0, 128, 16, 0, 16, ByThreads},         // 2,048 / 128
		{9, 0, 32, 16, 0, 32, ByThreads},          // 32 blocks, although 64 warps have room
		{9, 0, 384, 168, 231424, 1, ByRegisters},  // 12 warps × 5,376 registers = 64,512
		{9, 0, 128, 64, 48 << 10, 4, ByShared},    // 228 / (48 + 1)
		{9, 0, 256, 128, 0, 2, ByRegisters},       // 4,096 a warp: 4 in each quarter, 16 warps of 8
		{9, 0, 256, 129, 0, 1, ByRegisters},       // 4,352 a warp: 3 in each quarter, 12 warps
		{8, 0, 128, 122, 12544, 4, ByRegisters},   // 4,096 a warp: 16 warps of 4
		{8, 6, 256, 40, 0, 6, ByThreads},          // 1,536 threads
		{7, 5, 256, 32, 0, 4, ByThreads},          // 1,024 threads
		{7, 0, 256, 32, 24 << 10, 4, ByShared},    // 96 / 24: nothing is reserved
		{8, 0, 256, 32, 24<<10 + 1, 6, ByShared},  // 164 KiB / (24 KiB + 128 + 1 KiB)
		{12, 0, 1024, 64, 99 << 10, 1, ByThreads}, // 1,536 threads
		{10, 0, 192, 0, 0, 10, ByThreads},         // registers are not known: 64 warps of 6
		{8, 9, 33, 255, 0, 4, ByRegisters},        // 2 warps × 8,192: 8 warps
		{9, 0, 1024, 64, 0, 1, ByRegisters},       // 2,048 a warp: 32 warps
		{9, 0, 512, 32, 113 << 10, 2, ByShared},   // (113 + 1) × 2 = 228
		{9, 0, 512, 32, 113<<10 + 1, 1, ByShared}, // one unit more
		{9, 0, 640, 40, 0, 2, ByRegisters},        // 1,280 a warp: 48 warps of 20; threads allow 3
		{7, 0, 64, 156, 65536, 1, ByShared},       // 96 / 64
		{8, 0, 1024, 24, 160 << 10, 1, ByShared},  // 164 / 161
		{8, 6, 32, 24, 5 << 10, 16, ByThreads},    // 100 / 6 = 16 as well
		{8, 6, 32, 24, 6 << 10, 14, ByShared},     // 100 / 7
		{9, 0, 96, 200, 0, 2, ByRegisters},        // 6,400 a warp: 2 in each quarter, 8 warps of 3
	} {
		sm, ok := SMOf(tc.major, tc.minor)
		if !ok {
			t.Fatalf("compute capability %d.%d", tc.major, tc.minor)
		}
		blocks, by, ok := sm.Resident(tc.threads, tc.registers, tc.shared)
		if !ok || blocks != tc.blocks || by != tc.by {
			t.Errorf("%d.%d with %d threads, %d registers, %d bytes: %d by %s, %v, want %d by %s", tc.major, tc.minor, tc.threads, tc.registers, tc.shared, blocks, by, ok, tc.blocks, tc.by)
		}
	}
	sm, _ := SMOf(9, 0)
	for _, tc := range [][3]int64{{0, 32, 0}, {1025, 32, 0}, {128, 256, 0}, {128, 32, -1}, {128, 32, 1 << 30}, {1024, 128, 0}, {128, 32, 228 << 10}} {
		if n, _, ok := sm.Resident(tc[0], tc[1], tc[2]); ok {
			t.Errorf("%v: %d blocks of a kernel that no SM can hold", tc, n)
		}
	}
	if _, ok := SMOf(9, 4); ok {
		t.Error("9.4 is a version of AMD")
	}
}
