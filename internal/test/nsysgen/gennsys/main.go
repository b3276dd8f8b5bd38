// Command gennsys writes a database as Nsight Systems exports it, to measure
// with.
package main

import (
	"flag"
	"fmt"
	"os"

	"assay/internal/test/nsysgen"
)

func main() {
	var p nsysgen.Plan
	flag.IntVar(&p.Kernels, "kernels", 5_000_000, "number of kernels")
	flag.IntVar(&p.Devices, "devices", 1, "number of devices that run them in turns")
	flag.BoolVar(&p.Calls, "calls", false, "with a call that launches each kernel")
	flag.IntVar(&p.Ranges, "ranges", 0, "number of NVTX ranges around the calls")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: gennsys [flags] FILE.sqlite")
		os.Exit(2)
	}
	if err := nsysgen.Write(flag.Arg(0), p); err != nil {
		fmt.Fprintln(os.Stderr, "gennsys:", err)
		os.Exit(1)
	}
}
