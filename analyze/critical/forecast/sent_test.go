package forecast_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"assay/analyze/critical/graph"
)

// gathers is a step in which a layer of 100 µs is followed by a collective on another stream that takes 40 µs, and a layer that waits for it.
// The collective waits for the embedding, which ends at 26, and is launched at a time: launch calls take 4 µs, and 2 more until an idle stream starts the work.
func gathers(at float64) *tape {
	var p tape
	p.step(0, max(60, at+15))
	p.launch(10, 4, 1)
	p.work("embed_fwd", 3, 16, 10, 1)
	p.call("cudaEventRecord", 15, 1, 50)
	p.launch(17, 4, 2)
	p.work("ffn_fwd", 3, 27, 100, 2)
	p.call("cudaStreamWaitEvent", at-2, 1, 51)
	p.add("cuda_sync", "Stream Wait Event", 8, at-2, 0, object{"device": 0, "stream": 8, "correlation": 51, "wait_on_stream": 3, "wait_on_cuda_event_record_corr_id": 50})
	p.launch(at, 4, 3)
	start := max(at+6, 28)
	p.work("ncclDevKernel_AllGather_RING_LL", 8, start, 40, 3)
	p.call("cudaEventRecord", at+5, 1, 52)
	p.call("cudaStreamWaitEvent", at+7, 1, 53)
	p.add("cuda_sync", "Stream Wait Event", 3, at+7, 0, object{"device": 0, "stream": 3, "correlation": 53, "wait_on_stream": 8, "wait_on_cuda_event_record_corr_id": 52})
	p.launch(at+9, 4, 4)
	p.work("ffn_bwd", 3, max(start+42, 128), 50, 4)
	return &p
}

// TestSent: launched at 120, the collective runs from 126 to 166 and the layer behind it from 168, so it could have started at
// 26 and 1.3 of a delay, 98.7 µs earlier, and could end no later. The layer behind it is launched at 129 and would start at 135. Launched at 30 it runs from 36 to 76, could have started 8.7 µs earlier, and nothing waits until
// 128: 52 less the delay of 1.3 later. Launched at 20 it waits for the embedding.
func TestSent(t *testing.T) {
	for _, tc := range []struct {
		at   float64
		want string
		gain float64 // µs that starting earlier gives
	}{
		{120, "126 to 166, late 98.7, slack 0", 168 - 135},
		{30, "36 to 76, late 8.7, slack 50.7", 0},
		{20, "28 to 68, late 0, slack 58.7", 0},
	} {
		g := gathers(tc.at).graph(t, 0)
		p := g.Paths()[0]
		list := g.Sent(&p)
		if len(list) != 1 {
			t.Fatalf("%g: %+v", tc.at, list)
		}
		s := list[0]
		same(t, fmt.Sprint(tc.at), fmt.Sprintf("%g to %g, late %g, slack %g", us(s.Span.Start), us(s.Span.End), us(s.Late), us(s.Slack)), tc.want)
		f, changed, err := g.Forecast(g.Paths(), changesOf([]string{"--early"}))
		if err != nil || changed != (s.Late > 0) {
			t.Fatal(changed, err)
		}
		if got := us(f[0].Measured - f[0].Forecast); got < tc.gain || got > tc.gain+1 { // the delay behind the event is typical then
			t.Errorf("%g: gain %g µs, want %g", tc.at, got, tc.gain)
		}
	}
}

// TestSentPrepared: a cast on the stream of the collective, which mixed precision needs, is launched at a time and takes 10 µs; the collective is
// launched 10 µs later, or at 120. The cast could start at 26 and 1.3 of a delay, so the collective at 37.3 and 1.3.
func TestSentPrepared(t *testing.T) {
	for name, c := range map[string]struct {
		cast, sent   float64 // when they are launched
		start, layer float64 // of the collective, and how long a layer behind the cast takes on its stream
		late, gain   float64 // gain: 0 if it is not checked
	}{
		"both late":           {120, 130, 138, 0, 138 - 38.6, 180 - 145},
		"the collective late": {20, 120, 126, 0, 126 - 38.6, 0},
		"both in time":        {16, 19, 38.6, 0, 0, 0},
		"a layer, not a cast": {120, 130, 138, 90, 0, 0}, // most of the stream is not communication
	} {
		var p tape
		p.step(0, max(60, c.sent+15))
		p.launch(10, 4, 1)
		p.work("embed_fwd", 3, 16, 10, 1)
		p.call("cudaEventRecord", 15, 0.5, 50)
		p.call("cudaStreamWaitEvent", c.cast-0.4, 0.2, 51)
		p.add("cuda_sync", "Stream Wait Event", 8, c.cast-0.4, 0, object{"device": 0, "stream": 8, "correlation": 51, "wait_on_stream": 3, "wait_on_cuda_event_record_corr_id": 50})
		p.launch(c.cast, 2, 2)
		p.work("cast_kernel", 8, max(c.cast+6, 27.3), 10, 2)
		p.launch(c.sent, 4, 3)
		p.work("ncclDevKernel_ReduceScatter_RING_LL", 8, c.start, 40, 3)
		p.call("cudaEventRecord", c.sent+5, 1, 52)
		p.call("cudaStreamWaitEvent", c.sent+7, 1, 53)
		p.add("cuda_sync", "Stream Wait Event", 3, c.sent+7, 0, object{"device": 0, "stream": 3, "correlation": 53, "wait_on_stream": 8, "wait_on_cuda_event_record_corr_id": 52})
		p.launch(c.sent+9, 4, 4)
		p.work("ffn_bwd", 3, max(c.start+42, c.sent+15), 50, 4)
		if c.layer > 0 {
			p.launch(c.sent+14, 4, 5)
			p.work("ffn_fwd", 8, c.start+45, c.layer, 5)
		}
		g := p.graph(t, 0)
		path := g.Paths()[0]
		list := g.Sent(&path)
		if len(list) != 1 || math.Abs(us(list[0].Late)-c.late) > 0.001 {
			t.Errorf("%s: %+v, want %g µs late", name, list, c.late)
		}
		f, changed, err := g.Forecast(g.Paths(), changesOf([]string{"--early"}))
		if err != nil || changed != (c.late > 0) {
			t.Errorf("%s: %v %v", name, changed, err)
		}
		if got := us(f[0].Measured - f[0].Forecast); c.gain > 0 && math.Abs(got-c.gain) > 1.3 { // a delay is typical then
			t.Errorf("%s: gain %g µs, want %g", name, got, c.gain)
		}
	}
}

// TestSentJoined: of two ranks, one launches its collective late. What starts earlier on both is the transfer.
func TestSentJoined(t *testing.T) {
	var graphs []*graph.Graph
	for rank := range 2 {
		graphs = append(graphs, gathers(120).rank(t, rank))
	}
	g, apart := joined(graphs)
	if apart != "" {
		t.Fatal(apart)
	}
	paths := g.Paths()
	for i := range paths {
		list := g.Sent(&paths[i])
		if len(list) != 1 || us(list[0].Late) != 98.7 || list[0].Slack != 0 || !strings.Contains(list[0].Name, "AllGather") {
			t.Errorf("%+v", list)
		}
	}
	f, _, err := g.Forecast(paths, changesOf([]string{"--early"}))
	if err != nil || len(f) != 2 || us(f[1].Measured-f[1].Forecast) < 33 {
		t.Errorf("%+v %v", f, err)
	}
}

// TestSentUnknown: it is not known what a collective needs if no event orders the streams, or if the CPU read a result before it launched the
// collective, as the sizes of an all-to-all.
func TestSentUnknown(t *testing.T) {
	p := gathers(120)
	p.events = slices.DeleteFunc(p.events, func(e object) bool {
		return e["cat"] == "cuda_sync" || strings.Contains(fmt.Sprint(e["name"]), "Event")
	})
	read := gathers(120)
	read.call("cudaMemcpyAsync", 40, 3, 60)
	read.work("Memcpy DtoH (Device -> Pinned)", 9, 45, 4, 60)
	read.call("cudaStreamSynchronize", 44, 10, 61)
	for name, p := range map[string]*tape{"no event": p, "a result is read": read} {
		g := p.graph(t, 0)
		paths := g.Paths()
		list := g.Sent(&paths[0])
		if _, changed, err := g.Forecast(paths, changesOf([]string{"--early"})); len(list) != 1 || list[0].Late >= 0 || changed || err != nil {
			t.Errorf("%s: %+v, changed %v, %v", name, list, changed, err)
		}
	}
}
