package main

import (
	"context"
	"os"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"assay/analyze"
	"assay/internal/ingest"
	"assay/summary"
)

// Inputs are read side by side as long as their traces, unpacked, are estimated
// to stay under this many bytes. A trace takes about a seventh of its JSON in
// memory, so this is some 600 MB.
const unpackedBudget = 4 << 30

// A reading measures many inputs.
type reading struct {
	e    env
	opt  analyze.Options
	jobs int // inputs at a time; 0 means as many as there are cores

	mu    sync.Mutex
	files []*ingest.File // opened so far
}

// all measures the inputs and returns, in their order, the summaries of those
// that could be read and the errors of the others.
func (r *reading) all(paths []string) (parts []*summary.Summary, failed []error) {
	stop := showProgress(r.e.stderr, paths, r.stored)
	defer stop()
	jobs := r.jobs
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	slots := semaphore.NewWeighted(int64(jobs))
	budget := semaphore.NewWeighted(unpackedBudget)
	sums, errs := make([]*summary.Summary, len(paths)), make([]error, len(paths))
	var wg sync.WaitGroup
	for i, path := range paths {
		// Acquiring here, in order, keeps a large input from waiting for ever
		// behind small ones. Without a deadline it cannot fail.
		weight := min(unpackedBudget, unpacked(path))
		slots.Acquire(context.Background(), 1)
		budget.Acquire(context.Background(), weight)
		wg.Go(func() {
			defer slots.Release(1)
			defer budget.Release(weight)
			sums[i], errs[i] = r.one(path)
		})
	}
	wg.Wait()
	for i := range paths {
		if errs[i] != nil {
			failed = append(failed, errs[i])
		} else {
			parts = append(parts, sums[i])
		}
	}
	return parts, failed
}

// one reads and measures one input.
func (r *reading) one(path string) (*summary.Summary, error) {
	f, err := ingest.Open(path, r.e.stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r.mu.Lock()
	r.files = append(r.files, f)
	r.mu.Unlock()
	in, err := ingest.Load(f, analyze.Needs())
	if err != nil {
		return nil, err
	}
	return analyze.Trace(in.Trace, summary.Input{
		Path: in.Path, Format: in.Format, Compression: in.Compression,
		Bytes: in.Bytes, SHA256: in.SHA256, Rank: in.Rank, RankFrom: in.RankFrom,
	}, r.opt), nil
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
