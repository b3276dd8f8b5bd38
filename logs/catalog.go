package logs

import (
	_ "embed" // metrics.txt
	"slices"
	"strings"
	"sync"
)

//go:embed metrics.txt
var metricsText string

// Catalog returns the metrics with a canonical name, in the order of metrics.txt.
func Catalog() []Metric { return slices.Clone(catalog().list) }

// MetricOf returns the metric of a canonical name, or false.
func MetricOf(name string) (Metric, bool) {
	i, ok := catalog().index[name]
	if !ok {
		return Metric{}, false
	}
	return catalog().list[i], true
}

// Unnamed returns the metric of a value that has no canonical name.
func Unnamed(as string) Metric { return Metric{Name: as, Role: Other} }

type metrics struct {
	list  []Metric
	index map[string]int
}

// catalog parses metrics.txt, whose lines have five columns and a description. "-" means
// an empty column.
var catalog = sync.OnceValue(func() metrics {
	c := metrics{index: map[string]int{}}
	for line := range strings.Lines(metricsText) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		for i := range f[:5] {
			if f[i] == "-" {
				f[i] = ""
			}
		}
		c.index[f[0]] = len(c.list)
		c.list = append(c.list, Metric{
			Name: f[0], Unit: f[1], Better: Better(f[2]), Role: Role(f[3]), Pool: Pool(f[4]), Help: strings.Join(f[5:], " "),
		})
	}
	return c
})
