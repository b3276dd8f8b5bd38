package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"assay/analyze/inspect"
	"assay/report/doc"
	"assay/trace/window"
)

// whyLinks is how far back --why goes without --top.
const whyLinks = 6

// start finds the operation of one capture that --why may be about: the longest that --kernel finds,
// or what runs at --at.
func (x *inspecting) start(c *inspect.Capture, when window.Capture, all *answers, i int) error {
	all.kept[i] = c
	if len(all.kept) == 1 {
		all.kept = c.Processes(x.wants)
	}
	if len(c.Devices()) == 0 || len(all.kept) == len(all.kernels) && !x.wants(c.Rank()) {
		return nil
	}
	if x.kernel != "" {
		all.kernels[i] = c.Kernels(x.kernel, 1)
		return nil
	}
	at, err := x.time(when)
	if err != nil {
		return err
	}
	all.starts[i] = c.StartAt(at)
	return nil
}

// explain answers --why for one of the operations that were found.
func (x *inspecting) explain(all *answers, failed bool) (*inspect.Why, error) {
	starts, matches := present(all.starts), int64(0)
	if found := present(all.kernels); len(found) > 0 {
		k := inspect.JoinKernels(found, 1)
		if err := notFound("GPU operation", x.kernel, k.Count, k.Instead, doc.KernelLabel); err != nil {
			return nil, err
		}
		starts, matches = []*inspect.Instance{&k.Longest[0]}, k.Count
	}
	switch {
	case len(starts) == 0 && failed:
		return nil, nil
	case len(starts) == 0 && x.at != "":
		return nil, fmt.Errorf("no GPU operation runs at %s or after it on what --rank and --device choose", x.at)
	case len(starts) == 0:
		return nil, errors.New("no input has a rank and a GPU that --rank and --device ask for")
	case len(starts) > 1:
		return nil, errors.New("--why is about one start, and the time is on the clock of each capture; choose a capture with --rank")
	}
	captures := present(all.kept)
	slices.SortStableFunc(captures, func(a, b *inspect.Capture) int { return cmp.Compare(a.Rank(), b.Rank()) })
	w, err := inspect.Explain(captures, *starts[0], x.top)
	if w != nil {
		w.Matches = matches
	}
	return w, err
}
