// Gensnap writes a memory snapshot of package snapgen:
//
//	go run ./internal/test/snapgen/gensnap -steps 1000 -o snapshot.pickle
package main

import (
	"flag"
	"fmt"
	"os"

	"assay/internal/test/snapgen"
)

func main() {
	var opt snapgen.Options
	flag.Uint64Var(&opt.Seed, "seed", 1, "seed")
	flag.IntVar(&opt.Steps, "steps", 10, "steps")
	flag.IntVar(&opt.Layers, "layers", 24, "layers")
	flag.IntVar(&opt.Depth, "depth", 20, "frames that every stack has besides its own")
	flag.IntVar(&opt.MaxEntries, "entries", 0, "entries of the ring buffer")
	flag.BoolVar(&opt.RecordLate, "late", false, "record after the model was built")
	flag.BoolVar(&opt.EmptyCache, "empty", false, "empty the cache after every step")
	flag.BoolVar(&opt.Scatter, "scatter", false, "leave small things between large ones")
	flag.BoolVar(&opt.Exhaust, "exhaust", false, "let the last allocation fail")
	flag.BoolVar(&opt.Streams, "streams", false, "let frees wait for a stream")
	flag.BoolVar(&opt.Bare, "bare", false, "record nothing")
	path := flag.String("o", "snapshot.pickle", "output")
	flag.Parse()
	f, err := os.Create(*path)
	if err == nil {
		err = snapgen.Play(opt).Pickle(f)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gensnap:", err)
		os.Exit(1)
	}
}
