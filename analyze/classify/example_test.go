package classify_test

import (
	"fmt"

	"assay/analyze/classify"
)

func Example() {
	const mine = `
rules:
- id: my-halo-exchange
  class: comm
  category: send-recv
  match: ['^halo_(pack|unpack)']
  note: Written by us; it copies over NVLink.
- id: my-foreach
  category: optimizer
  on: full
  match: ['elementwise_kernel<.*MyStep']
`
	user, err := classify.Parse([]byte(mine), "rules.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	rules := classify.Default().Override(user)
	for _, name := range []string{
		"void halo_pack<double>(double*)",
		"void at::native::vectorized_elementwise_kernel<4, MyStep<float> >(int, MyStep<float>)",
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT",
		"void build_index(int*)",
	} {
		m := rules.Kernel(name)
		fmt.Printf("%-7s %-11s %-17s %s\n", m.Class, m.Category, m.Rule, classify.BaseName(name))
	}
	// Output:
	// comm    send-recv   my-halo-exchange  halo_pack
	// compute optimizer   my-foreach        at::native::vectorized_elementwise_kernel
	// comm    all-reduce  comm-all-reduce   ncclDevKernel_AllReduce_Sum_f32_RING_LL
	// compute gemm        nvjet-gemm        nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT
	// compute other       other             build_index
}
