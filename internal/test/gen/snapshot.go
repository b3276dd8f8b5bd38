package main

import (
	"errors"
	"flag"
	"os"

	"assay/internal/test/snapgen"
)

// snapshotCommand writes a memory snapshot of PyTorch.
func snapshotCommand(flags *flag.FlagSet) func() error {
	var opt snapgen.Options
	flags.Uint64Var(&opt.Seed, "seed", 1, "seed")
	flags.IntVar(&opt.Steps, "steps", 10, "steps")
	flags.IntVar(&opt.Layers, "layers", 24, "layers")
	flags.IntVar(&opt.Depth, "depth", 20, "frames that every stack has besides its own")
	flags.IntVar(&opt.MaxEntries, "entries", 0, "entries of the ring buffer")
	flags.BoolVar(&opt.RecordLate, "late", false, "record after the model was built")
	flags.BoolVar(&opt.EmptyCache, "empty", false, "empty the cache after every step")
	flags.BoolVar(&opt.Scatter, "scatter", false, "leave small things between large ones")
	flags.BoolVar(&opt.Exhaust, "exhaust", false, "let the last allocation fail")
	flags.BoolVar(&opt.Streams, "streams", false, "let frees wait for a stream")
	flags.BoolVar(&opt.Bare, "bare", false, "record nothing")
	path := flags.String("o", "snapshot.pickle", "output `FILE`")
	return func() error {
		f, err := os.Create(*path)
		if err != nil {
			return err
		}
		return errors.Join(snapgen.Play(opt).Pickle(f), f.Close())
	}
}
