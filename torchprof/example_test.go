package torchprof_test

import (
	"fmt"
	"strings"

	"assay/torchprof"
)

func ExampleRead() {
	const log = `INFO step 1
[rank0]:-----------  ------------  ------------  ------------  ------------
[rank0]:       Name      Self CPU     CPU total     Self CUDA    # of Calls
[rank0]:-----------  ------------  ------------  ------------  ------------
[rank0]:   aten::mm     500.000us     500.000us       1.250ms             3
INFO step 2
[rank0]:gemm_kernel       0.000us       0.000us       1.250ms             3
[rank0]:-----------  ------------  ------------  ------------  ------------
[rank0]:Self CPU time total: 500.000us
[rank0]:Self CUDA time total: 1.250ms
`
	tables, err := torchprof.Read(strings.NewReader(log), "train.log", torchprof.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range tables.List {
		for _, r := range t.Rows {
			fmt.Printf("%s, line %d: %s: %d ns\n", t.Name, t.Line, r.Name, r.Cells[0].Value)
		}
	}
	// Output:
	// key_averages, line 2: aten::mm: 1250000 ns
	// key_averages.cuda, line 2: gemm_kernel: 1250000 ns
}
