package tracegen

// graphStories are stories of captured graphs.
func graphStories() []StoryPreset {
	return []StoryPreset{
		{"graphs", "two graphs, one with a wait inside, replayed several times", func() Story { return graphStory("graphs", "cuda") }},
		{"graphs_hip", "the same on AMD hardware", func() Story { return graphStory("graphs_hip", "hip") }},
	}
}

// graphStory replays a graph of three contiguous kernels, and one of four GPU
// operations with a wait of 50 µs and other waits of 2 µs.
func graphStory(name, api string) Story {
	s := newScene(name)
	if api == "hip" {
		s.dialect.Vendor = ROCm
	}
	l := newLane(s)
	l.api = api
	call := api + "GraphLaunch"
	dense := s.capture(l.g, call,
		graphNode{"qkv", computeStream, 0, 20 * us}, graphNode{"attention", computeStream, 0, 30 * us}, graphNode{"qkv", computeStream, 0, 20 * us})
	bubble := s.capture(l.g, call,
		graphNode{"norm", computeStream, 0, 5 * us}, graphNode{"Memcpy DtoD (Device -> Device)", computeStream, 2 * us, 9 * us},
		graphNode{"gate", computeStream, 50 * us, 12 * us}, graphNode{"up", copyStream, 2 * us, 8 * us})
	l.first()
	for i, g := range []*graph{dense, bubble, dense, dense, bubble} {
		if i%2 == 0 { // queued after the running work
			l.t.op("decode", func() {
				l.t.spend(us)
				g.launch(l.t, 10*us, l.g.end)
			})
		} else { // launched when all work is done; the call runs for 6 µs after it starts
			l.finalize()
			l.t.op("decode", func() {
				l.wait(l.t, InOperator, "decode", 14*us)
				g.launch(l.t, 15*us, l.t.now+9*us)
				s.own(l.g, LaunchLatency, "", "", 9*us)
			})
		}
		if g == bubble {
			s.own(l.g, Dependency, "", "", 50*us)
			// Two pauses of 2 µs. In the graph that found the device idle, the
			// call was still running at the first. HIP launches the nodes one by one
			// during the call, CUDA all at once.
			launch := int64(0)
			if api == "hip" {
				launch = int64(i%2) * 2 * us
			}
			s.own(l.g, LaunchLatency, "", "", launch)
			s.own(l.g, BetweenKernels, "", "", 4*us-launch)
		}
	}
	l.finalize()
	const reply = "demo/serve.py(55): reply"
	l.t.python(reply, func() { l.wait(l.t, InPython, reply, 33*us) })
	l.inside()
	return s.tell()
}
