package main

import (
	"errors"
	"flag"

	"assay/internal/test/nsysgen"
)

// nsysCommand writes a database as Nsight Systems exports it.
func nsysCommand(flags *flag.FlagSet) func() error {
	var p nsysgen.Plan
	flags.IntVar(&p.Kernels, "kernels", 5_000_000, "number of kernels")
	flags.IntVar(&p.Devices, "devices", 1, "number of devices that run them in turns")
	flags.BoolVar(&p.Calls, "calls", false, "with a call that launches each kernel")
	flags.IntVar(&p.Ranges, "ranges", 0, "number of NVTX ranges around the calls")
	out := flags.String("o", "", "output `FILE`")
	return func() error {
		if *out == "" {
			return errors.New("want -o FILE")
		}
		return nsysgen.Write(*out, p)
	}
}
