package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/internal/test/snapgen"
	"assay/judge/rule"
	"assay/summary"
)

// played makes a run of a memory snapshot, as PyTorch writes it after the program
// that the options describe.
func played(opt snapgen.Options) func(*testing.T) *summary.Summary {
	return func(t *testing.T) *summary.Summary {
		t.Helper()
		var b strings.Builder
		if err := snapgen.Play(opt).Pickle(&b); err != nil {
			t.Fatal(err)
		}
		return given(b.String())(t)
	}
}

// remembered makes a run of a snapshot of 10 GiB in which nothing stands out but
// what is changed.
func remembered(change func(*summary.Snapshot)) func(*testing.T) *summary.Summary {
	return func(*testing.T) *summary.Summary {
		m := healthyMemory()
		change(&m)
		return ofSnapshots(m)
	}
}

// onDeviceOf is the same beside a trace that tells how much memory the device has.
func onDeviceOf(capacity int64, change func(*summary.Snapshot)) func(*testing.T) *summary.Summary {
	return func(t *testing.T) *summary.Summary {
		s := remembered(change)(t)
		s.Memory = []summary.Memory{{Capacity: bytesOf(capacity)}}
		return s
	}
}

// timelineOf is a memory timeline with so many MiB of parameters, optimizer state
// and activations at its one moment.
func timelineOf(parameters, optimizer, activations int64) func(*testing.T) *summary.Summary {
	return given(fmt.Sprintf("[[-1, 1760000000000000], [[0, 0, 0, 0, 0, 0, 0, 0, 0], [0, %d, %d, 0, 0, %d, 0, 0, 0]]]",
		parameters*testMiB, optimizer*testMiB, activations*testMiB))
}

// tracedMemory is a trace of a device with 10,000 MiB and an allocator that takes
// so many, under kernels without a gap.
func tracedMemory(reserved int64) func(*testing.T) *summary.Summary {
	var b strings.Builder
	fmt.Fprintf(&b, `{"deviceProperties": [{"id": 0, "name": "GPU", "totalGlobalMem": %d}], "traceEvents": [`, 10_000*testMiB)
	for i := range 20 {
		fmt.Fprintf(&b, `{"ph": "X", "cat": "kernel", "name": "gemm_%d", "pid": 0, "tid": 7, "ts": %d, "dur": 100, "args": {"device": 0, "stream": 7, "correlation": %d}},`+"\n", i%5, 100*i, i+1)
	}
	fmt.Fprintf(&b, `{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5, "args": {"Total Reserved": %d, "Total Allocated": %d, "Bytes": %d, "Addr": 512, "Device Type": 1, "Device Id": 0}}]}`,
		reserved*testMiB, 4000*testMiB, 4000*testMiB)
	return given(b.String())
}

// labelledMemory are memory snapshots and timelines. Of the programs that are
// played, the truth is added up apart from what reads them.
func labelledMemory() []labelled {
	return slices.Concat(labelledShortage(), labelledAllocator(), labelledHolders())
}

// labelledShortage are runs that have too little memory.
func labelledShortage() []labelled {
	const driver = 256 << 20 // that snapgen leaves to the driver when an allocation fails
	exhausted := snapgen.Options{Seed: 1, Steps: 1, Layers: 30, Exhaust: true}
	leak := snapgen.Options{Seed: 1, Steps: 8, Layers: 12, Scatter: true, Exhaust: true}
	quiet := leak
	quiet.Exhaust = false
	full := func(reserved int64) func(m *summary.Snapshot) {
		return func(m *summary.Snapshot) { m.Reserved, m.Peak.HighestReserved = reserved, reserved }
	}
	return []labelled{
		{name: "a model that is too large", label: rule.MemoryExhausted, num: 300 << 20, den: snapgen.Play(exhausted).Truth().Reserved + driver, in: played(exhausted)},
		{name: "a leak until memory is gone", label: rule.MemoryExhausted, num: 300 << 20, den: snapgen.Play(leak).Truth().Reserved + driver, in: played(leak)},
		{name: "a process reaches a limit of its own", label: rule.MemoryExhausted, num: testGiB, den: 80 * testGiB, in: remembered(func(m *summary.Snapshot) {
			m.Failed, m.Capacity = 1, bytesOf(80*testGiB)
			m.OutOfMemory = []summary.OutOfMemory{{Wanted: testGiB, Free: bytesOf(69 * testGiB), Frame: "model.py:8 logits"}}
		})},
		{name: "a leak that ends in time", label: rule.MemoryGrowth, near: rule.MemoryExhausted, in: played(quiet)},
		{name: "nearly all of the device is taken, and nothing fails", label: rule.MemoryPressure, near: rule.MemoryExhausted, num: 99 * testGiB, den: 100 * testGiB,
			in: onDeviceOf(100*testGiB, full(99*testGiB))},

		{name: "nine tenths of the device at one moment", label: rule.MemoryPressure, num: 90 * testGiB, den: 100 * testGiB,
			in: onDeviceOf(100*testGiB, func(m *summary.Snapshot) { m.Peak.HighestReserved = 90 * testGiB })},
		{name: "a trace has nearly all of the device taken", label: rule.MemoryPressure, num: 9_800 * testMiB, den: 10_000 * testMiB, in: tracedMemory(9_800)},
		{name: "one GiB less", label: "", near: rule.MemoryPressure, in: onDeviceOf(100*testGiB, full(89*testGiB))},
		{name: "a trace has most of the device taken", label: rule.ComputeBound, near: rule.MemoryPressure, num: 2 * ms, den: 2 * ms, in: tracedMemory(8_999)},
		{name: "all that is reserved, and nothing tells how much there is", label: "", near: rule.MemoryPressure, in: remembered(full(79 * testGiB))},
	}
}

// labelledAllocator are runs whose memory does not fit together.
func labelledAllocator() []labelled {
	scattered := snapgen.Options{Seed: 1, Steps: 4, Layers: 40, Scatter: true}
	plain := scattered
	plain.Scatter = false
	emptied := snapgen.Options{Seed: 1, Steps: 4, Layers: 12, EmptyCache: true}
	warm := emptied
	warm.EmptyCache = false
	split, churn := snapgen.Play(scattered).Truth(), snapgen.Play(emptied).Truth()
	frees := func(calls, bytes int64) func(*testing.T) *summary.Summary {
		return remembered(func(m *summary.Snapshot) { m.History.SegmentFrees, m.History.SegmentFreeBytes = calls, bytes })
	}
	return []labelled{
		{name: "small things that stay between large ones that go", label: rule.MemoryFragmented, num: split.Split, den: split.Reserved, in: played(scattered)},
		{name: "graphs keep pools of their own", label: rule.MemoryFragmented, num: 3 * testGiB, den: 20 * testGiB, in: remembered(func(m *summary.Snapshot) {
			m.Reserved, m.Split, m.Private, m.PrivateFree = 20*testGiB, 3*testGiB, 6*testGiB, 2*testGiB
		})},
		{name: "a seventh is split", label: "", near: rule.MemoryFragmented,
			in: remembered(func(m *summary.Snapshot) { m.Reserved, m.Split = 21*testGiB, 3*testGiB })},
		{name: "the same program without what stays", label: "", near: rule.MemoryFragmented, in: played(plain)},
		{name: "free memory in whole segments can be given back", label: "", near: rule.MemoryFragmented,
			in: remembered(func(m *summary.Snapshot) { m.Reserved, m.Cached = 20*testGiB, 9*testGiB })},
		{name: "nearly all is split, but it is little", label: "", near: rule.MemoryFragmented,
			in: remembered(func(m *summary.Snapshot) { m.Reserved, m.Split = 256*testMiB, 255*testMiB })},

		{name: "empty_cache in every step", label: rule.AllocatorChurn, num: churn.SegmentFreeByte, den: churn.HighestReserved, in: played(emptied)},
		{name: "the allocator runs short, empties its cache and tries again", label: rule.AllocatorChurn, num: 6 * testGiB, den: 11 * testGiB, in: frees(10, 6*testGiB)},
		{name: "a cache that stays warm", label: "", near: rule.AllocatorChurn, in: played(warm)},
		{name: "one empty_cache, of nine segments", label: "", near: rule.AllocatorChurn, in: frees(9, 11*testGiB)},
		{name: "many small segments", label: "", near: rule.AllocatorChurn, in: frees(500, 5*testGiB)},
	}
}

// labelledHolders are runs that differ in the memory by allocation site, known or
// unknown.
func labelledHolders() []labelled {
	// Each step leaves 12 × 1,500 KiB behind: five of them do between the beginnings
	// of the third and of the last, and six by the end.
	const left = 12 * 1500 << 10
	leak := snapgen.Options{Seed: 1, Steps: 8, Layers: 12, Scatter: true}
	short := leak
	short.Steps = 6
	third := snapgen.Play(leak).Truth().Requested - 6*left
	grown := func(bytes int64, fell bool) func(*testing.T) *summary.Summary {
		return remembered(func(m *summary.Snapshot) {
			m.History.Steps = []summary.MemoryStep{{Name: "step 1"}, {Name: "step 2"}, {Name: "step 3", Start: testGiB}, {Name: "step 9", Start: testGiB + bytes}}
			m.History.Growth = &summary.MemoryGrowth{From: "step 3", To: "step 9", Steps: 6, Bytes: bytes, Fell: fell}
		})
	}
	weights := snapgen.Options{Seed: 1, Layers: 80}
	truth := snapgen.Play(weights).Truth()
	cache := func(m *summary.Snapshot) {
		m.Owners = []summary.Owner{{Kind: summary.KindKVCache, Frame: "engine.py:9 allocate", Bytes: 8 * testGiB, Count: 64}}
	}
	return []labelled{
		{name: "a logger keeps tensors", label: rule.MemoryGrowth, num: 5 * left, den: third, in: played(leak)},
		{name: "a cache that grows a bit each step", label: rule.MemoryGrowth, num: 52 * testMiB, den: testGiB, in: grown(52*testMiB, false)},
		{name: "too few steps to tell", label: "", near: rule.MemoryGrowth, in: played(short)},
		{name: "more at the end, but less in between", label: "", near: rule.MemoryGrowth, in: grown(64*testMiB, true)},
		{name: "less than a twentieth", label: "", near: rule.MemoryGrowth, in: grown(51*testMiB, false)},

		{name: "a model is loaded and nothing else", label: rule.MemoryOwner, num: truth.Requested, den: truth.Requested, in: played(weights)},
		{name: "activations in a timeline", label: rule.MemoryOwner, num: 600 * testMiB, den: 1000 * testMiB, in: timelineOf(100, 300, 600)},
		{name: "four, three and three tenths in a timeline", label: "", near: rule.MemoryOwner, in: timelineOf(300, 300, 400)},
		{name: "all is of one category, but it is little", label: "", near: rule.MemoryOwner, in: timelineOf(255, 0, 0)},
		{name: "a KV cache fills the device, as it is told to", label: rule.MemoryPressure, near: rule.MemoryOwner, num: 11 * testGiB, den: 12 * testGiB, in: onDeviceOf(12*testGiB, cache)},

		{name: "nothing was recorded", label: rule.MemoryUnrecorded, in: played(snapgen.Options{Seed: 4, Steps: 2, Layers: 8, Bare: true})},
		{name: "nothing was recorded of a run with split memory", label: rule.MemoryUnrecorded, in: played(snapgen.Options{Seed: 1, Steps: 8, Layers: 40, Scatter: true, Bare: true})},
		{name: "a limit ended the history before the snapshot", label: rule.MemoryUnrecorded, in: remembered(func(m *summary.Snapshot) { m.Peak = nil })},
		{name: "recorded after the model was built", label: "", near: rule.MemoryUnrecorded, in: played(snapgen.Options{Seed: 1, Steps: 4, Layers: 40, RecordLate: true})},
		{name: "the ring buffer has lost the beginning", label: "", near: rule.MemoryUnrecorded, in: played(snapgen.Options{Seed: 1, Steps: 4, Layers: 40, MaxEntries: 100})},
	}
}
