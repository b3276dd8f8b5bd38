package forecast_test

import (
	"fmt"
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
