package logs

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// A Reading is what a machine says of one of its parts: a GPU, a link, a port, the host. Several values of one property
// are one reading, with the first and the last of them.
type Reading struct {
	Node        string // the host, where the input states it
	Part        string // "GPU 00000000:18:00.0", "GPU 3 link 5", "mlx5_0 port 1", "host"
	Property    string // canonical, as properties.txt has it
	Name        string // of the tool, where several are one property: "tx_discards_phy"
	First, Last string
	Times       int64  // how often it was read
	Line        int64  // of the last
	At          string // when the last was true, if the input says so: "2026-03-14 09:26:53", "Mar 14 09:26:53" without a year
}

// maxReadings is the largest number of readings of one input.
const maxReadings = 20_000

// Read adds a value of a property. Empty values and those that say that there is none are left out.
func (b *Builder) Read(r Reading, value string) {
	value = strings.TrimSpace(value)
	if slices.Contains([]string{"", "N/A", "[N/A]", "-", "Not Supported", "[Not Supported]", "Unknown", "Unknown Error"}, value) || len(value) > MaxName {
		return
	}
	key := r.Node + "\x00" + r.Part + "\x00" + r.Property + "\x00" + r.Name
	if b.readings == nil {
		b.readings = map[string]int{}
	}
	i, ok := b.readings[key]
	if !ok {
		if len(b.log.Readings) >= maxReadings {
			return
		}
		i = len(b.log.Readings)
		b.readings[key] = i
		r.First = value
		b.log.Readings = append(b.log.Readings, r)
	}
	it := &b.log.Readings[i]
	it.Last, it.Line, it.At = value, r.Line, r.At
	it.Times++
}

//go:embed properties.txt
var propertiesText string

// properties has the canonical names of the properties that the tools print, by tool and name.
var properties = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(propertiesText) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] == "#" {
			continue
		}
		for _, name := range words[2:] {
			out[words[0]+" "+name] = words[1]
		}
	}
	return out
})

// PropertyOf returns the canonical name of a property of a tool, or "" if it is not kept.
func PropertyOf(tool, name string) string { return properties()[tool+" "+name] }
