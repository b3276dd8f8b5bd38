package layers_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/summary"
	"assay/trace"
)

// TestFloorOfCommunication: an all-reduce of 256 × 1,024 numbers of two bytes sends 524,288 bytes once, 1,166 ns at the 450 GB/s of an H200;
// a reduce-scatter or an all-gather of as many over four GPUs sends three quarters, 874 ns. Where size, group or link are unknown,
// there is no floor, nor if one of two collectives that take as long has none, or if a collective is faster than it.
func TestFloorOfCommunication(t *testing.T) {
	const elements, gpu = 256 * 1024, "NVIDIA H200"
	args := func(name string, in, out, size int, ranks string) string {
		return fmt.Sprintf(`,"Collective name":%q,"In msg nelems":%d,"Out msg nelems":%d,"Group size":%d,"dtype":"BFloat16","Process Group Name":"tp","Process Group Ranks":%q`, name, in, out, size, ranks)
	}
	reduce := args("allreduce", elements, elements, 2, "[0, 1]")
	for name, c := range map[string]struct {
		first, second string // arguments of the two collectives of a layer
		us            int    // that each takes
		gpu           string
		bytes, ns     int64 // 0 without a floor
	}{
		"tensor parallel": {reduce, reduce, 10, gpu, 2 * 524_288, 2 * 1166},
		"sequence parallel": {args("_reduce_scatter_base", elements, elements/4, 4, "[4, 5, 6, 7]"), args("_allgather_base", elements/4, elements, 4, "[4, 5, 6, 7]"),
			10, gpu, 2 * 393_216, 2 * 874},
		"experts, even":          {reduce, args("all_to_all", elements, elements, 4, "[0, 1, 2, 3]"), 10, gpu, 524_288 + 393_216, 1166 + 874},
		"experts, uneven":        {reduce, args("all_to_allv", elements, elements-512, 4, "[0, 1, 2, 3]"), 10, gpu, 0, 0},
		"no size":                {"", reduce, 10, gpu, 0, 0},
		"one rank":               {args("allreduce", elements, elements, 1, "[0]"), reduce, 10, gpu, 0, 0},
		"ranks are not recorded": {args("allreduce", elements, elements, 2, ""), reduce, 10, gpu, 0, 0},
		"two machines":           {args("allreduce", elements, elements, 2, "[0, 8]"), reduce, 10, gpu, 0, 0},
		"another GPU":            {reduce, reduce, 10, "Some GPU", 0, 0},
		"faster than the link":   {reduce, reduce, 1, gpu, 0, 0},
	} {
		var events []string
		at := 100
		add := func(us int, name, args string) {
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":7,"ts":%d,"dur":%d,"args":{"device":0,"stream":7,"correlation":%d%s}}`, name, at, us, at, args))
			at += us + 1
		}
		add(3, "embedding_kernel", "")
		for range 5 {
			add(4, "rms_norm_kernel", "")
			add(10, "gemm_qkv", "")
			add(20, "flash_fwd_kernel", "")
			add(6, "gemm_proj", "")
			add(c.us, "ncclDevKernel_Generic_1", c.first)
			add(4, "rms_norm_kernel", "")
			add(30, "gemm_up", "")
			add(2, "silu_kernel", "")
			add(20, "gemm_down", "")
			add(c.us, "ncclDevKernel_Generic_2", c.second)
		}
		add(4, "rms_norm_kernel", "")
		add(9, "argmax_kernel", "")
		var devices []string
		for i := range 8 {
			devices = append(devices, fmt.Sprintf(`{"id":%d,"name":%q,"numSms":132}`, i, c.gpu))
		}
		text := `{"deviceProperties":[` + strings.Join(devices, ",") + `],"traceEvents":[` + strings.Join(events, ",") + "]}"
		tr, err := trace.Read(strings.NewReader(text), "t.json", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		rows := measure(tr).Layers
		if len(rows) != 1 || rows[0].Count != 5 || rows[0].TypicalParts.Communication != int64(2000*c.us) {
			t.Fatalf("%s: %+v", name, rows)
		}
		var want []summary.PartFloor
		if c.ns > 0 {
			want = []summary.PartFloor{{Part: "communication", KernelNS: int64(2000 * c.us), Bytes: c.bytes, NS: c.ns, Bound: summary.BoundLink, From: summary.FloorOfOperators}}
		}
		if fmt.Sprint(rows[0].Floor) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, want %+v", name, rows[0].Floor, want)
		}
	}
}
