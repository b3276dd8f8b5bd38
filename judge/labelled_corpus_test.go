package judge

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
)

// TestVerdictsOnCaptures holds verdicts on real captures to what was seen in them by
// other means: a script of its own that reads the JSON, sweeps the device's events,
// and lists the host's events of the launching threads in the longest gaps. Its
// figures stand here as they came out of it.
func TestVerdictsOnCaptures(t *testing.T) {
	for _, tc := range []struct {
		path        string
		bound, rule string
		value       float64 // of the finding, by the script
	}{
		// BERT small, batch 1, eager, on an MI300: 60 kernels in 3.5 ms, half of them
		// under 5 µs, and 390.7 µs of work in all. Of the 60 gaps 56 are under 100 µs,
		// with a median of 40 µs and 56.7% of the window in total; 1.1% of the window are
		// before kernels whose calls had returned. In each of the others,
		// one launching thread goes through nn.Module frames to the next
		// launch. No call synchronizes. So it is the host's pace that decides, and
		// replaying a graph would help.
		{"tracelens/mi300/gaunernst_bert-small-uncased__1016001.json.gz", "host", rule.LaunchBound, 0.556},

		// AlexNet: 66 ms of work in a window of 12.92 s, in which the program starts. One
		// cudaFree takes 6.0 s, another 0.5 s, cudaMalloc calls 2.0
		// s together; the overlap of all of them with the gaps is 65.7% of the window.
		// The first cudaLaunchKernel takes another 3.1 s, to load code. No data loader,
		// no synchronization: memory is what the device waits for most, and all of it
		// belongs into a warm-up.
		{"hta/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz", "host", rule.Allocating, 0.657},

		// Qwen 1.5 0.5B, eager, on an H100: busy for 91.9% of the window, so the host
		// keeps up. Matrix products are 28.2% of the work, attention 8.5%; the other 63.4%
		// are multiplications, additions, copies by kernels, concatenation, pow, silu
		// and means, of about 30 µs each, one after the other over the same tensors. A device that is busy moving data: fusing helps, faster matrix
		// products would not.
		{"tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "memory", rule.MemoryBandwidth, 0.634},

		// ResNet under DDP with activation checkpoints on an MI300: the device is busy
		// for 97% of the window, but 71.5 ms of 86.6 are one RCCL kernel
		// (ncclDevKernel_Generic), and only 29.7% of the window have any compute in
		// them. The host waits in hipDeviceSynchronize for it, so the host is not what
		// is late: it is the communication.
		{"tracelens/mi300/resnet_act_checkpoint.json.gz", "communication", rule.ExposedComm, 0.643},

		// A recommendation model on a V100: 96.3% busy. Compute runs in 73.6% of the
		// window, exposed SendRecv and AllReduce take 9.8%, and copies with nothing
		// next to them 12.9%: 9.6% of all work is "Memcpy DtoD", 6.9% "Memcpy HtoD
		// (Pinned -> Device)". Communication stays just
		// under its limit of 10%; copies are over theirs of 5%.
		{"hta/trace_diff/test/test.json.gz", "copies", rule.ExposedCopies, 0.129},

		// gpt-oss by vLLM on an MI300, decode replayed by graphs: 434 events in 10.7
		// ms, 99.8% busy, hardly a gap. Two kernels of experts (_matmul_ogs) are 65.6%
		// of the work and neither alone is half. Nothing to fix on the host. The step decodes
		// 32 sequences with weights of 4 bits, and the capture does not name the GPU: whether
		// arithmetic or memory limits the kernels cannot be told.
		{"tracelens/inference/vllm_decode_full/graph_execution.json.gz", "gpu", rule.ComputeBound, 0.994},
	} {
		s := captured(t, filepath.Join("kineto", tc.path))
		r := Judge(s, rule.DefaultThresholds())
		if r.Verdict.Bound != finding.Bound(tc.bound) || r.Verdict.Rule != tc.rule || firstRule(r) != tc.rule {
			t.Errorf("%s: %s-bound by %s, first %s; want %s by %s\n%s", tc.path, r.Verdict.Bound, r.Verdict.Rule, firstRule(r), tc.bound, tc.rule, told(r))
			continue
		}
		if f := find(t, r, tc.rule); math.Abs(f.Value-tc.value) > 0.0006 {
			t.Errorf("%s: %s is %.4f, the script has %.3f", tc.path, tc.rule, f.Value, tc.value)
		}
	}
}

// captured measures a real capture, or skips the test where there are none.
func captured(t *testing.T, path string) *summary.Summary {
	t.Helper()
	tr, err := trace.Read(bytes.NewReader(test.Unpacked(t, test.Corpus(t, path))), path, analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{Path: path, Format: "kineto"}, analyze.DefaultOptions())
}

// readable measures a trace of the corpus, or returns nil if that has no device.
func readable(t *testing.T, path string) *summary.Summary {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		return nil
	}
	tr, err := trace.Read(text, path, analyze.Needs())
	if err != nil || tr == nil {
		return nil
	}
	s := analyze.Trace(tr, summary.Input{Path: path, Format: "kineto"}, analyze.DefaultOptions())
	if len(s.Devices) == 0 {
		return nil
	}
	return s
}
