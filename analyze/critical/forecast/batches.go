package forecast

import (
	"assay/analyze/critical"
	"assay/analyze/critical/graph"
)

// The limits of what is said about batches that were there before they were asked for, in percent of a step.
const (
	waitedFor   = 5 // a batch for which the host waited as long tells when it came
	wasThere    = 2 // one for which it waited less was there
	unsureBatch = 5 // by more, the step may be longer or shorter than its forecast
)

// ofBatches withholds the forecast of a step that takes a batch earlier than it was taken, where it is not known when it
// came: the host waits for some batches of the loader, so it is hardly faster than the program, but not for this one.
func (g *Model) ofBatches(v *critical.Verdict, t *critical.Times, p *critical.Path, forecast int64) {
	waits, unsure := false, int64(0)
	for _, b := range g.Batches {
		n := &g.Nodes[b]
		if int(n.Rank) != p.Rank {
			continue
		}
		wait, earlier := int64(0), g.End(b)-t.End(b)
		if n.Flags&graph.IsArrival != 0 && n.Pred != graph.None {
			wait, earlier = g.Start[b]-g.End(n.Pred), t.End(b)-t.End(n.Pred)
		}
		waits = waits || graph.Percent(wait, p.Window.Len()) > waitedFor
		if at := g.End(b); at >= p.Window.Start && at < p.Window.End && graph.Percent(wait, p.Window.Len()) < wasThere {
			unsure = max(unsure, earlier-wait)
		}
	}
	if share := graph.Percent(unsure, forecast); waits && !t.Loads() && share > unsureBatch {
		v.Add(critical.Abstain, "the host waits for other batches, but this one was there before it was asked for, so when it came is not known: that is up to %.0f%% of the changed step", share)
	}
}
