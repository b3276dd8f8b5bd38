package main

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"assay/analyze"
	"assay/classify"
	"assay/internal/ingest"
)

// Inputs are read side by side as long as their traces, unpacked, are estimated
// to stay under this many bytes. A trace takes about a seventh of its JSON in
// memory, so this is some 600 MB.
const unpackedBudget = 4 << 30

// A reading reads many inputs.
type reading struct {
	e      env
	rules  func() *classify.Rules // may wait: rules are read while inputs are
	jobs   int                    // inputs at a time; 0 means as many as there are cores
	paths  []string
	failed []error // of what the user named and is no input

	mu    sync.Mutex
	files []*ingest.File // opened so far
}

// all reads the inputs and hands each with its index to use, several at a time.
// It returns the errors of those that could not be read, in their order.
func (r *reading) all(use func(i int, in *ingest.Input)) []error {
	stop := showProgress(r.e.stderr, r.paths, r.stored)
	defer stop()
	jobs := r.jobs
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	slots := semaphore.NewWeighted(int64(jobs))
	budget := semaphore.NewWeighted(unpackedBudget)
	errs := make([]error, len(r.paths))
	var wg sync.WaitGroup
	for i, path := range r.paths {
		// Acquiring here, in order, keeps a large input from waiting for ever
		// behind small ones. Without a deadline it cannot fail.
		weight := min(unpackedBudget, unpacked(path))
		slots.Acquire(context.Background(), 1)
		budget.Acquire(context.Background(), weight)
		wg.Go(func() {
			defer slots.Release(1)
			defer budget.Release(weight)
			var in *ingest.Input
			if in, errs[i] = r.one(path); errs[i] == nil {
				use(i, in)
			}
		})
	}
	wg.Wait()
	failed := slices.Clone(r.failed)
	for _, err := range errs {
		if err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// one reads one input.
func (r *reading) one(path string) (*ingest.Input, error) {
	f, err := ingest.Open(path, r.e.stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r.mu.Lock()
	r.files = append(r.files, f)
	r.mu.Unlock()
	return ingest.Load(f, analyze.Needs())
}

// stored returns how many stored bytes of all inputs were read so far.
func (r *reading) stored() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.files {
		n += f.Stored()
	}
	return n
}

// unpacked estimates how long an input's JSON is: traces shrink to a sixteenth
// when they are compressed. What has no size, such as a pipe, counts as half
// of the budget.
func unpacked(path string) int64 {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return unpackedBudget / 2
	}
	if strings.HasSuffix(path, ".gz") || strings.HasSuffix(path, ".zst") {
		return 16 * info.Size()
	}
	return info.Size()
}
