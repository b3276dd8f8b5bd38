package tracegen

import "math/rand/v2"

// A StoryPreset is a story with a name.
type StoryPreset struct {
	Name  string
	About string // what it shows, in a few words
	Make  func() Story
}

// Stories returns all stories. Most have fewer than 200 events.
func Stories() []StoryPreset {
	var out []StoryPreset
	for _, m := range motifs() {
		out = append(out, StoryPreset{m.name, m.about, func() Story { return play(m.name, "cuda", m.play) }})
	}
	out = append(out, StoryPreset{"mixture", "every reason for a gap, twice, in some order", func() Story { return Mixture(1) }})
	out = append(out, StoryPreset{"mixture_hip", "the same on AMD hardware", func() Story { return mixture("mixture_hip", "hip", 2) }})
	for _, more := range []func() []StoryPreset{linkStories, threadStories, graphStories, memoryStories, phaseStories} {
		out = append(out, more()...)
	}
	return out
}

// play runs a story of motifs.
func play(name, api string, motifs ...func(*lane)) Story {
	s := newScene(name)
	l := newLane(s)
	l.api = api
	if api == "hip" {
		s.dialect.Vendor = ROCm
	}
	l.first()
	for _, m := range motifs {
		m(l)
	}
	return s.tell()
}

// Mixture returns a story that has every motif twice, in an order and with
// lengths that depend on the seed. It has about 400 events.
func Mixture(seed uint64) Story { return mixture("mixture", "cuda", seed) }

func mixture(name, api string, seed uint64) Story {
	rnd := rand.New(rand.NewPCG(seed, 0))
	var order []func(*lane)
	for _, m := range append(motifs(), motifs()...) {
		order = append(order, m.play)
	}
	rnd.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	vary := func(l *lane) {
		l.ns = func(ns int64) int64 { return ns/2 + rnd.Int64N(ns) }
	}
	return play(name, api, append([]func(*lane){vary}, order...)...)
}
