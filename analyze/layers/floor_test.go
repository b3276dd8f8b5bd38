package layers_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/summary"
	"assay/trace"
)

// TestFloorsOfShapes: a product of 256 × 1,024 and 1,024 × 4,096 numbers of two bytes moves 11,010,048 bytes, 2,294 ns at 4,800 GB/s, and so does the
// one back; its 2.1 GFLOP take 2,171 ns at 989.4 TFLOP/s. A fill of a product's workspace is not counted. Attention states no shapes, so its part has no floor.
func TestFloorsOfShapes(t *testing.T) {
	const up, down, back = `[[256,1024],[1024,4096]]`, `[[256,4096],[4096,1024]]`, `[[256,1024],[1024,1024]]`
	type op struct{ name, dims, kernels string }
	layer := []op{{"aten::rms", "", "4 rms_norm_kernel"}, {"aten::mm", back, "10 gemm_qkv"}, {"custom::attend", "", "20 flash_fwd_kernel"}, {"aten::mm", back, "6 gemm_proj"},
		{"aten::rms", "", "4 rms_norm_kernel"}, {"aten::mm", up, "1 Memset;30 gemm_up"}, {"aten::silu", `[[256,4096]]`, "2 silu_kernel"}, {"aten::mm", down, "5 gemm_down;5 splitKreduce_kernel"}}
	list := []op{{"aten::embedding", "", "3 embedding_kernel"}}
	for range 5 {
		list = append(list, layer...)
	}
	list = append(list, op{"aten::rms", "", "4 rms_norm_kernel"}, op{"aten::mm", up, "8 gemm_head"}, op{"aten::argmax", "", "9 argmax_kernel"})
	var events []string
	at, id := int64(100_000), 0
	for i, o := range list {
		args := fmt.Sprintf(`"External id":%d`, i+1)
		if o.dims != "" {
			args += fmt.Sprintf(`,"Input Dims":%s,"Input type":["c10::BFloat16","c10::BFloat16"]`, o.dims)
		}
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":%q,"pid":1,"tid":1,"ts":%d,"dur":19,"args":{%s}}`, o.name, 20*i, args))
		for n, kernel := range strings.Split(o.kernels, ";") {
			var us int64
			var name string
			if _, err := fmt.Sscan(kernel, &us, &name); err != nil {
				t.Fatal(err)
			}
			cat := "kernel"
			if name == "Memset" {
				cat = "gpu_memset"
			}
			id++
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, 20*i+1+2*n, id),
				fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":0,"tid":7,"ts":%d,"dur":%d,"args":{"device":0,"stream":7,"correlation":%d}}`, cat, name, at, us, id))
			at += us + 1
		}
	}
	tr, err := trace.Read(strings.NewReader(`{"deviceProperties":[{"id":0,"name":"NVIDIA H200","numSms":132}],"traceEvents":[`+strings.Join(events, ",")+"]}"), "t.json", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	rows := measure(tr).Layers
	if len(rows) != 1 || rows[0].Count != 5 || rows[0].HeadNS != 8000 {
		t.Fatalf("%+v", rows)
	}
	got := map[string]summary.PartFloor{}
	for _, f := range rows[0].Floor {
		got[f.Part] = f
	}
	const bytes, flops = 11_010_048, 2 * 256 * 1024 * 4096
	if want := (summary.PartFloor{Part: "head", KernelNS: 8000, Bytes: bytes, FLOPs: flops, NS: 2294, Bound: "memory", From: summary.FloorOfOperators}); got["head"] != want {
		t.Errorf("%+v, want %+v", got["head"], want)
	}
	// The activation reads and writes 2 bytes of 256 × 4,096 numbers, 874 ns.
	mlp := got["mlp"]
	if mlp.KernelNS != 42_000 || mlp.Bytes != 2*bytes+4*256*4096 || mlp.NS != 2*2294+874 || mlp.Bound != "memory" {
		t.Errorf("%+v", mlp)
	}
	if f, ok := got["attention"]; ok {
		t.Errorf("%+v, want none", f)
	}
}
