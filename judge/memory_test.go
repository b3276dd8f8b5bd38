package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

const (
	testMiB = int64(1) << 20
	testGiB = int64(1) << 30
)

// healthyMemory has 10 GiB without a dominant owner: the owners have 4, 3
// and 3 GiB, and 0.5 GiB is split.
func healthyMemory() summary.Snapshot {
	return summary.Snapshot{
		Usage:    summary.Usage{Segments: 100, Reserved: 11 * testGiB, Allocated: 10 * testGiB, Split: testGiB / 2, Cached: testGiB / 2, LargestFree: testGiB / 4},
		History:  &summary.MemoryHistory{Entries: 1000, SegmentAllocs: 100, SegmentAllocBytes: 11 * testGiB},
		Peak:     &summary.MemoryPeak{Live: 10 * testGiB, Reserved: 11 * testGiB, HighestReserved: 11 * testGiB, Sizes: "requested"},
		OwnersAt: "peak", OwnersBytes: 10 * testGiB,
		Owners: []summary.Owner{
			{Kind: summary.KindActivations, Frame: "model.py:7 forward", Bytes: 4 * testGiB, Count: 32},
			{Kind: summary.KindOptimizer, Frame: "train.py:9 build", Bytes: 3 * testGiB, Count: 100},
			{Kind: summary.KindParameters, Frame: "model.py:3 __init__", Bytes: 3 * testGiB, Count: 100},
		},
		Kinds: []summary.Held{{Name: summary.KindActivations, Bytes: 4 * testGiB, Count: 32}, {Name: summary.KindOptimizer, Bytes: 3 * testGiB, Count: 100}, {Name: summary.KindParameters, Bytes: 3 * testGiB, Count: 100}},
	}
}

func ofSnapshots(rows ...summary.Snapshot) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema}
	for i, r := range rows {
		r.Rank, r.Input = i, i
		s.Inputs = append(s.Inputs, summary.Input{Path: "snapshot.pickle", Format: "torch-memory-snapshot", Rank: i, Complete: true})
		s.Snapshots = append(s.Snapshots, r)
	}
	return s
}

func bytesOf(n int64) *int64 { return &n }

// TestMemoryVerdicts changes one thing of a healthy snapshot at a time.
func TestMemoryVerdicts(t *testing.T) {
	for _, tt := range []struct {
		name            string
		change          func(*summary.Snapshot)
		bound, sentence string
		rules, levels   string
		next            string // of the first finding
	}{
		{"healthy", func(*summary.Snapshot) {}, "memory-healthy",
			"Memory: peaks of 10 GiB allocated and 11 GiB reserved, inactive split 4.5% of reserved memory at the end; all below their limits", "", "", ""},
		{"healthy, but its beginning is lost", func(m *summary.Snapshot) { m.History.LostBlocks = 1 }, "memory-healthy",
			"Memory: peaks of 10 GiB allocated and 11 GiB reserved, inactive split 4.5% of reserved memory at the end; all below their limits; the beginning of the history is lost, so the peak may be higher", "", "", ""},
		{"out of memory", func(m *summary.Snapshot) {
			m.Failed, m.Capacity = 1, bytesOf(12*testGiB)
			m.OutOfMemory = []summary.OutOfMemory{{Wanted: 2 * testGiB, Free: bytesOf(testGiB), Reserved: bytesOf(11 * testGiB), Live: bytesOf(10 * testGiB), Kind: summary.KindActivations, Frame: "model.py:8 logits"}}
		}, "out-of-memory", "Out of memory: tried to allocate 2 GiB, 1 GiB free of 12 GiB for this process",
			"memory-exhausted memory-pressure", "critical warn", "checkpoint-activations"},
		{"out of memory in fragments", func(m *summary.Snapshot) {
			m.Failed, m.Capacity = 1, bytesOf(80*testGiB)
			m.OutOfMemory = []summary.OutOfMemory{{Wanted: 2 * testGiB, Free: bytesOf(testGiB), Reserved: bytesOf(14 * testGiB), Live: bytesOf(10 * testGiB), Frame: "model.py:8 logits"}}
		}, "out-of-memory", "Out of memory: tried to allocate 2 GiB, 1 GiB free of 80 GiB for this process",
			"memory-exhausted", "critical", "expandable-segments"},
		{"out of memory beside a small rest", func(m *summary.Snapshot) {
			m.Failed, m.Capacity = 1, bytesOf(12*testGiB)
			m.OutOfMemory = []summary.OutOfMemory{{Wanted: testGiB / 16, Free: bytesOf(testGiB / 32), Reserved: bytesOf(11 * testGiB), Live: bytesOf(11*testGiB - testGiB/8), Kind: summary.KindActivations, Frame: "model.py:8 logits"}}
		}, "out-of-memory", "Out of memory: tried to allocate 64 MiB, 32 MiB free of 12 GiB for this process",
			"memory-exhausted memory-pressure", "critical warn", "checkpoint-activations"},
		{"out of memory at the limit of the process", func(m *summary.Snapshot) {
			m.Failed, m.Capacity = 1, bytesOf(80*testGiB)
			m.OutOfMemory = []summary.OutOfMemory{{Wanted: testGiB, Free: bytesOf(69 * testGiB), Reserved: bytesOf(11 * testGiB), Live: bytesOf(11 * testGiB), Kind: summary.KindActivations, Frame: "model.py:8 logits"}}
		}, "out-of-memory", "Out of memory: tried to allocate 1 GiB, 69 GiB free of 80 GiB; the process may not use it",
			"memory-exhausted", "critical", "raise-the-limit"},
		{"one allocation of more than there is", func(m *summary.Snapshot) {
			m.Failed, m.Capacity = 1, bytesOf(80*testGiB)
			m.OutOfMemory = []summary.OutOfMemory{{Wanted: 70 * testGiB, Free: bytesOf(69 * testGiB), Frame: "model.py:8 logits"}}
		}, "out-of-memory", "Out of memory: tried to allocate 70 GiB, 69 GiB free of 80 GiB for this process",
			"memory-exhausted", "critical", "smaller-allocation"},
		{"fragmented", func(m *summary.Snapshot) { m.Split, m.Reserved = 4*testGiB, 16*testGiB }, "fragmentation",
			"Fragmentation: 25.0% of reserved memory (4 GiB of 16 GiB); limit 15%", "memory-fragmented", "warn", "expandable-segments"},
		{"fragmented at its limit", func(m *summary.Snapshot) { m.Split, m.Reserved, m.Expandable = 3*testGiB, 10*testGiB, true }, "fragmentation",
			"Fragmentation: 30.0% of reserved memory (3 GiB of 10 GiB); limit 30%", "memory-fragmented", "critical", "allocate-few-sizes"},
		{"little memory in fragments", func(m *summary.Snapshot) { m.Split, m.Reserved = 255*testMiB, 256*testMiB }, "memory-healthy",
			"Memory: peaks of 10 GiB allocated and 11 GiB reserved, inactive split 99.6% of reserved memory at the end; all below their limits", "", "", ""},
		{"churn", func(m *summary.Snapshot) { m.History.SegmentFrees, m.History.SegmentFreeBytes = 10, 11*testGiB }, "allocator-churn",
			"Allocator churn: 11 GiB released and reserved again (100.0% of the peak); limit 100%", "allocator-churn", "critical", "empty-cache-less"},
		{"growth", func(m *summary.Snapshot) {
			m.History.Steps = []summary.MemoryStep{{Name: "step 1"}, {Name: "step 2"}, {Name: "step 3", Start: testGiB}, {Name: "step 7", Start: 5 * testGiB / 4}}
			m.History.Growth = &summary.MemoryGrowth{From: "step 3", To: "step 7", Steps: 4, Bytes: testGiB / 4, Owners: []summary.Owner{{Kind: summary.KindOther, Frame: "log.py:5 keep", Bytes: testGiB / 4, Count: 8}}}
		}, "memory-growth", "Memory growth: +256 MiB (25.0%) from step 3 to step 7; limit 25%", "memory-growth", "critical", "free-what-a-line-allocates"},
		{"growth that falls", func(m *summary.Snapshot) {
			m.History.Steps = []summary.MemoryStep{{Name: "step 3", Start: testGiB}}
			m.History.Growth = &summary.MemoryGrowth{From: "step 3", To: "step 7", Steps: 4, Bytes: testGiB / 4, Fell: true}
		}, "memory-healthy", "Memory: peaks of 10 GiB allocated and 11 GiB reserved, inactive split 4.5% of reserved memory at the end; all below their limits", "", "", ""},
		{"few cudaFree calls", func(m *summary.Snapshot) { m.History.SegmentFrees, m.History.SegmentFreeBytes = 9, 11*testGiB }, "memory-healthy",
			"Memory: peaks of 10 GiB allocated and 11 GiB reserved, inactive split 4.5% of reserved memory at the end; all below their limits", "", "", ""},
		{"one owner", func(m *summary.Snapshot) { m.OwnersBytes = 6 * testGiB }, "memory-owner",
			"One site dominates: 66.7% of the memory at the peak (4 GiB of 6 GiB); limit 50%", "memory-owner", "warn", "checkpoint-activations"},
		{"a KV cache", func(m *summary.Snapshot) { m.OwnersBytes, m.Owners[0].Kind = 4*testGiB, summary.KindKVCache }, "memory-healthy",
			"Memory: peaks of 10 GiB allocated and 11 GiB reserved, inactive split 4.5% of reserved memory at the end; all below their limits", "memory-owner", "info", "checkpoint-activations"},
		{"nobody known", func(m *summary.Snapshot) {
			m.Owners, m.Kinds = []summary.Owner{{Kind: summary.KindUnknown, Bytes: 10 * testGiB}}, nil
		}, "memory-healthy", "Memory: peaks of 10 GiB allocated and 11 GiB reserved, inactive split 4.5% of reserved memory at the end; all below their limits", "", "", ""},
		{"no history", func(m *summary.Snapshot) { m.History, m.Peak, m.OwnersAt = nil, nil, "end" }, "unknown",
			"No allocation history: peak unknown; 10 GiB allocated of 11 GiB reserved at the end", "memory-unrecorded", "warn", "record-memory-history"},
		{"no history, and fragments", func(m *summary.Snapshot) { m.History, m.Peak, m.Split, m.Reserved = nil, nil, 4*testGiB, 10*testGiB }, "unknown",
			"No allocation history: peak unknown; 10 GiB allocated of 10 GiB reserved at the end", "memory-unrecorded memory-fragmented", "warn info", "record-memory-history"},
		{"a history that breaks off", func(m *summary.Snapshot) { m.Peak = nil }, "unknown",
			"Incomplete history: peak unknown; 10 GiB allocated of 11 GiB reserved at the end", "memory-unrecorded", "warn", "read-the-whole-snapshot"},
	} {
		m := healthyMemory()
		tt.change(&m)
		r := Judge(ofSnapshots(m), rule.DefaultThresholds())
		var rules, levels []string
		for _, f := range r.Findings {
			rules, levels = append(rules, f.Rule), append(levels, f.Level.String())
		}
		if r.Verdict.Bound != finding.Bound(tt.bound) || r.Verdict.Sentence != tt.sentence || strings.Join(rules, " ") != tt.rules || strings.Join(levels, " ") != tt.levels {
			t.Errorf("%s:\ngot  %+v\n     %v %v", tt.name, r.Verdict, rules, levels)
			continue
		}
		if tt.next != "" && r.Findings[0].Next[0].ID != tt.next {
			t.Errorf("%s: the first advice is %q, want %q", tt.name, r.Findings[0].Next[0].ID, tt.next)
		}
		for _, f := range r.Findings {
			if f.DenominatorNS != 0 || f.Rule != rule.MemoryUnrecorded && (f.DenominatorBytes == 0 || len(f.Evidence) == 0) {
				t.Errorf("%s: %+v", tt.name, f)
			}
		}
	}
}

// TestMemoryWorst names the device that a finding is about, where there are
// several.
func TestMemoryWorst(t *testing.T) {
	bad := healthyMemory()
	bad.Split, bad.Reserved = 4*testGiB, 10*testGiB
	r := Judge(ofSnapshots(healthyMemory(), bad, healthyMemory()), rule.DefaultThresholds())
	if r.Verdict.Bound != "fragmentation" || !strings.Contains(r.Verdict.Sentence, " on rank 1 GPU 0: 40.0% of reserved memory (4 GiB of 10 GiB)") {
		t.Errorf("%+v", r.Verdict)
	}
	same := ofSnapshots(healthyMemory(), bad)
	same.Snapshots[1].Rank = 0
	same.Inputs[1].Path = "other.pickle"
	if r := Judge(same, rule.DefaultThresholds()); !strings.Contains(r.Verdict.Sentence, `on rank 0 GPU 0 in "other.pickle"`) {
		t.Errorf("%+v", r.Verdict)
	}
}

// TestMemoryBesideTime: where a trace was read too, it has the verdict, and says
// how much memory the device has.
func TestMemoryBesideTime(t *testing.T) {
	s := ofSnapshots(healthyMemory())
	s.Memory = []summary.Memory{{Capacity: bytesOf(11 * testGiB)}}
	if r := Judge(s, rule.DefaultThresholds()); r.Verdict.Bound != "memory-pressure" || r.Findings[0].Level != finding.Critical {
		t.Errorf("%+v", r)
	}
	var busy summary.Activity
	busy[summary.ClassCompute] = 1e9
	s.Devices = []summary.Device{{WindowNS: 1e9, Activity: busy, Events: 1000}}
	r := Judge(s, rule.DefaultThresholds())
	if r.Verdict.Bound != "compute" || r.Findings[0].Rule != rule.MemoryPressure {
		t.Errorf("%+v", r)
	}
}

// TestMemoryBesideLittle: too little work, and tables, leave memory what it is.
func TestMemoryBesideLittle(t *testing.T) {
	m := healthyMemory()
	m.Split, m.Reserved = 4*testGiB, 10*testGiB
	s := ofSnapshots(m)
	var busy summary.Activity
	busy[summary.ClassCompute] = 1e9
	s.Devices = []summary.Device{{WindowNS: 1e9, Activity: busy, Events: 1}}
	tables := ofSnapshots(m)
	tables.Tables = []summary.Table{{Name: "cuda_api_sum", Of: summary.OfCall}}
	for name, s := range map[string]*summary.Summary{"little work": s, "tables": tables} {
		r := Judge(s, rule.DefaultThresholds())
		if r.Verdict.Bound != "unknown" || !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == rule.MemoryFragmented && f.Level == finding.Critical }) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestMemoryThresholds: limits from a file decide.
func TestMemoryThresholds(t *testing.T) {
	th, err := rule.ParseThresholds([]byte("memory-owner:\n  warn: 40%\n  critical: 40%\n"), "x")
	if err != nil {
		t.Fatal(err)
	}
	if r := Judge(ofSnapshots(healthyMemory()), th); r.Verdict.Bound != "memory-owner" || r.Findings[0].Level != finding.Critical {
		t.Errorf("%+v", r)
	}
}

// TestMemoryTimeline: a category that has most of the memory is named, with what
// to do about it.
func TestMemoryTimeline(t *testing.T) {
	for category, want := range map[string]string{
		"activations": "checkpointing", "parameters": "Shard or quantize", "optimizer state": "8-bit", "gradients": "zero_grad", "inputs": "batches", "unknown": "stacks",
	} {
		s := &summary.Summary{MemoryTimelines: []summary.MemoryTimeline{{Peak: 10 * testGiB, Categories: []summary.CategoryBytes{
			{Name: category, AtPeak: 7 * testGiB}, {Name: "temporaries", AtPeak: 3 * testGiB},
		}}}}
		r := Judge(s, rule.DefaultThresholds())
		sentence := strings.ToUpper(category[:1]) + category[1:] + ": 70.0% of the memory at the peak (7 GiB of 10 GiB); limit 50%"
		if r.Verdict.Bound != "memory-owner" || r.Verdict.Sentence != sentence || !strings.Contains(strings.Join(texts(r.Findings[0].Next), " "), want) {
			t.Errorf("%s: %+v", category, r)
		}
		s.MemoryTimelines[0].Categories[0].AtPeak = 4 * testGiB
		if r := Judge(s, rule.DefaultThresholds()); r.Verdict.Bound != "memory-healthy" {
			t.Errorf("%+v", r)
		}
	}
}

// TestMemoryWords checks the texts on a KV cache and on a timeline with little memory.
func TestMemoryWords(t *testing.T) {
	m := healthyMemory()
	m.OwnersBytes, m.Owners[0].Kind = 4*testGiB, summary.KindKVCache
	f := findingBy(t, Judge(ofSnapshots(m), rule.DefaultThresholds()), rule.MemoryOwner)
	if want := "a KV cache is large on purpose"; !strings.Contains(f.Evidence[0], want) || f.Level != finding.Info {
		t.Errorf("%s: %s", f.Level, f.Title)
	}
	little := &summary.Summary{MemoryTimelines: []summary.MemoryTimeline{{Peak: 255 * testMiB, Categories: []summary.CategoryBytes{{Name: "parameters", AtPeak: 255 * testMiB}}}}}
	if v := Judge(little, rule.DefaultThresholds()).Verdict; v.Bound != "memory-healthy" || v.Sentence != "Memory: peak 255 MiB; categories are judged from 256 MiB" {
		t.Errorf("%+v", v)
	}
}
