package tracegen

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// eachStory runs f on every story, and on mixtures with some more seeds.
func eachStory(t *testing.T, f func(t *testing.T, s Story, o *oracle)) {
	t.Helper()
	for _, p := range Stories() {
		t.Run(p.Name, func(t *testing.T) {
			s := p.Make()
			if s.Name != p.Name {
				t.Errorf("it calls itself %q", s.Name)
			}
			f(t, s, newOracle(t, s.JSON))
		})
	}
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("mixture ", seed), func(t *testing.T) {
			s := Mixture(10 + seed)
			f(t, s, newOracle(t, s.JSON))
		})
	}
}

// TestStoryIdle compares the idle time recorded by stories with a sweep over
// the written events, and the sums of both with the windows.
func TestStoryIdle(t *testing.T) {
	eachStory(t, func(t *testing.T, s Story, o *oracle) {
		for _, d := range s.Truth.Devices {
			device := strconv.Itoa(d.Device)
			from, to := o.window(device)
			if from != d.StartNS || to-from != d.WindowNS {
				t.Errorf("device %d: window from %d for %d, the truth has %d and %d", d.Device, from, to-from, d.StartNS, d.WindowNS)
			}
			want := map[IdleTime]int64{}
			noted := int64(0)
			for _, row := range s.Truth.Idle {
				if row.Device == d.Device {
					want[IdleTime{Owner: row.Owner, State: row.State, Name: row.Name}] = row.NS
					noted += row.NS
				}
			}
			got := o.idle(device)
			for k := range got {
				if got[k] != want[k] {
					t.Errorf("device %d: %v: %d ns, the truth has %d", d.Device, k, got[k], want[k])
				}
			}
			for k := range want {
				if _, ok := got[k]; !ok {
					t.Errorf("device %d: %v: not found, the truth has %d", d.Device, k, want[k])
				}
			}
			busy, work := int64(0), int64(0)
			edges := o.edges(from, to)
			for i := 1; i < len(edges); i++ {
				if o.busy(edges[i-1], device) {
					busy += edges[i] - edges[i-1]
				}
			}
			for _, w := range o.work {
				if w.device == device {
					work += w.to - w.from
				}
			}
			if noted != d.WindowNS-busy || d.IdleNS != noted || d.WorkNS != work {
				t.Errorf("device %d: idle rows sum to %d, %d; the window of %d less busy time is %d; work %d, want %d",
					d.Device, noted, d.IdleNS, d.WindowNS, d.WindowNS-busy, d.WorkNS, work)
			}
		}
	})
}

// TestEveryOwner: the stories together show every owner and every state, and a
// mixture alone does.
func TestEveryOwner(t *testing.T) {
	want := []string{HostLate, LaunchLatency, BetweenKernels, Dependency, NothingOffered, OpaqueGraph, Unknown,
		Synchronizing, Copying, Allocating, Launching, Calling, DataLoading, InOperator, InPython, InAnnotation, Unrecorded}
	have := map[string]bool{}
	for _, row := range Mixture(1).Truth.Idle {
		have[row.Owner], have[row.State] = true, true
	}
	for _, name := range want {
		if !have[name] {
			t.Errorf("no row of %s", name)
		}
	}
	delete(have, "")
	if len(have) != len(want) {
		t.Errorf("%v, want only %v", slices.Sorted(maps.Keys(have)), want)
	}
}

// TestStoryEvents: stories are small and reproducible, and no two events of a
// thread have equal times, which would make their nesting ambiguous.
func TestStoryEvents(t *testing.T) {
	eachStory(t, func(t *testing.T, s Story, o *oracle) {
		if n := len(parse(t, s.JSON)); n > 200 && !strings.HasPrefix(s.Name, "mixture") || n > 500 {
			t.Errorf("%d events", n)
		}
		seen := map[string]string{}
		for _, e := range o.host {
			key := fmt.Sprint(e.thread, e.from, e.to)
			if other, twice := seen[key]; twice {
				t.Errorf("%s and %s have equal times", other, e.Name)
			}
			seen[key] = e.Name
		}
	})
	for i, p := range Stories() {
		if again := Stories()[i]; !bytes.Equal(p.Make().JSON, again.Make().JSON) {
			t.Errorf("%s has different bytes when told again", p.Name)
		}
	}
}
