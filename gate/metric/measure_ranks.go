package metric

import (
	"errors"
	"fmt"

	"assay/summary"
)

var errNoCollectives = errors.New("no matched collectives: give the traces of several ranks of one job")

// waitShare divides the waiting of GPUs by their windows.
func (v selection) waitShare() (Value, error) {
	windows := map[summary.GPU]int64{}
	for _, d := range v.Devices {
		windows[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}] = d.Activity.Window()
	}
	var wait, window int64
	for i := range v.Ranks {
		r := &v.Ranks[i]
		if !v.sel.hasDevice(r.Rank, r.Device) {
			continue
		}
		of := windows[summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}]
		if r.WindowNS != nil {
			of = *r.WindowNS
		}
		wait, window = summary.Plus(wait, r.WaitNS), summary.Plus(window, of)
	}
	return v.rankShare(ratio(wait, window), window)
}

// rankShare returns a share, or why there is none.
func (v selection) rankShare(share Value, den int64) (Value, error) {
	switch {
	case len(v.Ranks) == 0:
		return Value{}, errNoCollectives
	case den == 0:
		return Value{}, errors.New("no such rank with matched collectives")
	}
	return share, nil
}

// causedShare returns 0 if no rank waited.
func (v selection) causedShare() (Value, error) {
	var all, most int64
	chosen := false
	for i := range v.Ranks {
		r := &v.Ranks[i]
		all += r.CausedNS
		if v.sel.hasDevice(r.Rank, r.Device) {
			most, chosen = max(most, r.CausedNS), true
		}
	}
	if chosen && all == 0 {
		return Value{Note: "no rank waited"}, nil
	}
	if !chosen {
		all = 0
	}
	return v.rankShare(ratio(most, all), all)
}

// A collectives is the sum of the selected collectives.
type collectives struct {
	count, bytes, transfer, waited  int64
	hasBytes, hasTransfer           bool
	busBytes, algBytes, bandwidthNS float64 // of those with a bandwidth
}

func (c collectives) transferred() (Value, error) {
	if !c.hasTransfer {
		return Value{}, errNoTransfer
	}
	return whole(c.transfer), nil
}

func (c collectives) wait() (Value, error) {
	if !c.hasTransfer {
		return Value{}, errNoTransfer
	}
	return whole(c.waited), nil
}

func (c collectives) size() (Value, error) {
	if !c.hasBytes {
		return Value{}, errors.New("no sizes of collectives in the traces")
	}
	return whole(c.bytes), nil
}

func (c collectives) bus() (Value, error) { return c.bandwidth(c.busBytes) }

func (c collectives) alg() (Value, error) { return c.bandwidth(c.algBytes) }

func (c collectives) bandwidth(bytes float64) (Value, error) {
	if c.bandwidthNS == 0 {
		return Value{}, errors.New("no bandwidth of collectives: it takes their sizes, and all ranks of a group")
	}
	return Value{V: bytes / c.bandwidthNS * 1e9}, nil
}

var errNoTransfer = errors.New("no transfer time: ranks leave these operations before all have come")

// collectivesAs returns a function that measures matched collectives.
func collectivesAs(of func(collectives) (Value, error)) func(selection) (Value, error) {
	return func(v selection) (Value, error) {
		var sum collectives
		names, found := map[string]bool{}, false
		for i := range v.Collectives {
			c := &v.Collectives[i]
			names[c.Op] = true
			if v.sel.has("op", c.Op) && v.sel.has("group", c.Group) && v.sel.has("parallel", c.Parallel) &&
				v.sel.has("dtype", c.Dtype) {
				sum.add(c)
				found = true
			}
		}
		switch {
		case len(names) == 0:
			return Value{}, errNoCollectives
		case !found:
			return Value{}, fmt.Errorf("no such collective; there is %s", few(sorted(names)))
		}
		return of(sum)
	}
}

func (c *collectives) add(row *summary.Collective) {
	c.count += row.Count
	if row.Bytes != nil && row.Count > 0 {
		n := min(*row.Bytes, (1<<63-1)/row.Count)
		c.bytes, c.hasBytes = summary.Plus(c.bytes, n*row.Count), true
	}
	if row.TransferNS == nil {
		return
	}
	c.transfer, c.hasTransfer = c.transfer+*row.TransferNS, true
	if row.WaitNS != nil {
		c.waited += *row.WaitNS
	}
	if row.BusBWGBps != nil && row.AlgBWGBps != nil {
		ns := float64(*row.TransferNS) // GB/s are bytes per ns
		c.busBytes += *row.BusBWGBps * ns
		c.algBytes += *row.AlgBWGBps * ns
		c.bandwidthNS += ns
	}
}

// orResult returns a function that measures a metric in traces, or takes the best result of
// benchmarks if there is no trace: nccl-tests measure each size, and small ones are slow.
func orResult(measure func(selection) (Value, error), metric string) func(selection) (Value, error) {
	return func(v selection) (Value, error) {
		n, best := 0, 0.0
		for i := range v.Benchmarks {
			for _, f := range v.Benchmarks[i].Metrics {
				if f.Metric == metric && (f.Stat == "" || f.Stat == "out-of-place") {
					n, best = n+1, max(best, f.Value)
				}
			}
		}
		if len(v.Collectives) > 0 || n == 0 || v.sel.String() != "" {
			return measure(v)
		}
		return Value{V: best, Note: fmt.Sprintf("the highest of %d results", n)}, nil
	}
}
