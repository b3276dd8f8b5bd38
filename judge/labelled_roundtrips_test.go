package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
)

// A moved is a piece of work of a round: a kernel, or a copy of some bytes, on a stream. Work of stream 7 runs one after the other; that of
// another stream begins with the piece before.
type moved struct {
	name   string
	us     int64
	bytes  int64 // 0 for a kernel
	stream int64
}

// trips repeats work 40 times without gaps.
func trips(list ...moved) func(t *testing.T) *summary.Summary {
	return func(t *testing.T) *summary.Summary {
		t.Helper()
		var events []string
		at, start := int64(0), int64(0)
		for range 40 {
			for _, m := range list {
				begin := at
				if m.stream != 7 {
					begin = start
				}
				n := len(events)/2 + 1
				call, cat, args := "cudaLaunchKernel", "kernel", ""
				if m.bytes > 0 {
					call, cat, args = "cudaMemcpyAsync", "gpu_memcpy", fmt.Sprintf(`,"bytes":%d`, m.bytes)
				}
				events = append(events,
					fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":%q,"pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, call, 3*n, n),
					fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":0,"tid":%d,"ts":%d,"dur":%d,"args":{"device":0,"stream":%d,"correlation":%d%s}}`,
						cat, m.name, m.stream, 10_000+begin, m.us, m.stream, n, args))
				if m.stream == 7 {
					start, at = at, at+m.us
				}
			}
		}
		tr, err := trace.Read(strings.NewReader(`{"traceEvents":[`+strings.Join(events, ",")+"]}"), "trips.json", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		return analyze.Trace(tr, summary.Input{Path: "trips.json", Format: "kineto"}, analyze.DefaultOptions())
	}
}

// labelledRoundTrips are runs of a busy GPU, of which 900 µs of each round are products.
func labelledRoundTrips() []labelled {
	const us, size = int64(1000), int64(3 << 20)
	down := func(bytes int64) moved { return moved{"Memcpy DtoH (Device -> Pageable)", 60, bytes, 7} }
	up := func(bytes int64) moved { return moved{"Memcpy HtoD (Pageable -> Device)", 40, bytes, 7} }
	gemms := 0
	gemm := func(us int64) moved {
		gemms++ // none takes most of the time
		return moved{name: fmt.Sprintf("sm90_xmma_gemm_bf16bf16_bf16f32_tn_%dx64", 64*gemms), us: us, stream: 7}
	}
	beside := func(m moved) moved { m.stream = 9; return m }
	return []labelled{
		{name: "to the CPU and back", label: rule.HostRoundTrips, num: 40 * 100 * us, den: 40 * 1000 * us,
			in: trips(gemm(400), gemm(300), gemm(200), down(size), up(size))},
		{name: "twice", label: rule.HostRoundTrips, num: 40 * 200 * us, den: 40 * 1000 * us,
			in: trips(gemm(300), gemm(200), down(size), up(size), gemm(300), down(3*size), up(3*size))},

		{name: "offloaded while others compute", label: rule.ExposedCopies, near: rule.HostRoundTrips,
			in: trips(gemm(400), down(size), gemm(300), gemm(200), up(size))},
		{name: "offloaded to pinned memory", label: rule.ExposedCopies, near: rule.HostRoundTrips,
			in: trips(gemm(400), gemm(300), gemm(200), moved{"Memcpy DtoH (Device -> Pinned)", 60, size, 7}, moved{"Memcpy HtoD (Pinned -> Device)", 40, size, 7})},
		{name: "beside as many other copies", label: rule.ExposedCopies, near: rule.HostRoundTrips,
			in: trips(gemm(400), gemm(300), gemm(200), down(size), up(size), up(2*size), gemm(100), up(5*size))},
		{name: "another size comes back", label: rule.ExposedCopies, near: rule.HostRoundTrips, in: trips(gemm(400), gemm(300), gemm(200), down(size), up(2*size))},
		{name: "a batch is loaded and its result read", label: rule.ExposedCopies, near: rule.HostRoundTrips, in: trips(up(size), gemm(400), gemm(300), gemm(200), down(size/2))},
		{name: "beside products", label: rule.ComputeBound, near: rule.HostRoundTrips,
			in: trips(gemm(400), beside(down(size)), gemm(400), beside(up(size)), gemm(200))},
	}
}
