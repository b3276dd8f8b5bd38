package ncu_test

import (
	"fmt"
	"strings"

	"assay/nsys/ncu"
)

func ExampleRead() {
	const out = `==PROF== Connected to process 41 (/usr/bin/app)
"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","41","copy","GPU Speed Of Light Throughput","Duration","us","21.06"
"0","41","copy","GPU Speed Of Light Throughput","Memory Throughput","%","61.84"
`
	c, err := ncu.Read(strings.NewReader(out), "ncu.log", ncu.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range c.Launches {
		l := &c.Launches[i]
		ns, _ := c.Value(l, ncu.Duration)
		share, _ := c.Value(l, ncu.MemoryShare)
		fmt.Printf("%s: %.0f ns, memory at %.2f%% of its peak\n", l.Kernel, ns, share)
	}
	// Output: copy: 21060 ns, memory at 61.84% of its peak
}
