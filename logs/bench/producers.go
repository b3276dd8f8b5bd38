package bench

import (
	_ "embed" // producers.txt
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"assay/logs"
)

//go:embed producers.txt
var producersText string

// A producer is a program that writes results, with the names that it uses for metrics.
type producer struct {
	name         string
	has          []string // members that all its objects have
	hasNot       []string
	beginsResult []string // members at the beginning of its objects, to recognize an object that is cut off
	line         string   // heading of its printed results; "" if they are not read
	settings     map[string]bool
	names        map[string]target // names that contain no statistic
	stats        []pattern
}

// A target is the metric of a name.
type target struct {
	metric logs.Metric
	factor float64 // 0 if the result states the unit
	stat   string
	noZero bool // 0 means that the value was not measured
}

// A pattern is a name with a statistic in it.
type pattern struct {
	before, after string
	target
}

var producers = sync.OnceValue(func() []*producer {
	list, err := parseProducers(producersText)
	if err != nil {
		panic(err) // not possible: a test parses the file
	}
	return list
})

// parseProducers parses a file of producers.
func parseProducers(text string) (list []*producer, err error) {
	var p *producer
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		key, rest, _ := strings.Cut(line, " ")
		if line == "" || line[0] == '#' {
			continue
		}
		if key != "producer" && p == nil {
			return nil, fmt.Errorf("producers.txt:%d: no producer before it", number)
		}
		switch key {
		case "producer":
			p = &producer{name: rest, settings: map[string]bool{}, names: map[string]target{}}
			list = append(list, p)
		case "has":
			for _, name := range strings.Fields(rest) {
				if not, ok := strings.CutPrefix(name, "!"); ok {
					p.hasNot = append(p.hasNot, not)
				} else {
					p.has = append(p.has, name)
				}
			}
		case "begins":
			p.beginsResult = strings.Fields(rest)
		case "line":
			p.line = strings.TrimPrefix(rest, "-")
			if strings.HasPrefix(rest, "--") {
				p.line = rest
			}
		case "like":
			err = p.like(list, rest)
		case "setting":
			for name := range strings.SplitSeq(rest, " | ") {
				p.settings[name] = true
			}
		case "metric":
			err = p.metric(rest)
		default:
			err = fmt.Errorf("the key %q is unknown", key)
		}
		if err != nil {
			return nil, fmt.Errorf("producers.txt:%d: %w", number, err)
		}
	}
	return list, nil
}

// like copies the names of another producer to p.
func (p *producer) like(list []*producer, name string) error {
	i := slices.IndexFunc(list, func(q *producer) bool { return q.name == name })
	if i < 0 || list[i] == p {
		return fmt.Errorf("producer %q is not before it", name)
	}
	for s := range list[i].settings {
		p.settings[s] = true
	}
	for n, t := range list[i].names {
		p.names[n] = t
	}
	p.stats = append(p.stats, list[i].stats...)
	return nil
}

// metric adds the names of a metric: "NAME UNIT NAMES".
func (p *producer) metric(text string) error {
	name, rest, _ := strings.Cut(text, " ")
	unit, names, _ := strings.Cut(rest, " ")
	metric, ok := logs.MetricOf(name)
	if !ok {
		return fmt.Errorf("%q is no metric", name)
	}
	factor, err := factorOf(metric, unit)
	if err != nil {
		return err
	}
	for as := range strings.SplitSeq(names, " | ") {
		t := target{metric: metric, factor: factor}
		as, t.noZero = strings.CutSuffix(as, "?0")
		if before, after, ok := strings.Cut(as, "*"); ok {
			p.stats = append(p.stats, pattern{before, after, t})
			continue
		}
		if before, stat, ok := strings.Cut(as, "="); ok {
			as, t.stat = before, stat
		}
		p.names[as] = t
	}
	return nil
}

// factorOf returns the factor that converts a unit to the unit of a metric, and 0 for "?".
func factorOf(metric logs.Metric, unit string) (float64, error) {
	base, factor, ok := logs.ScaleOf(unit, false)
	switch {
	case unit == "?":
		return 0, nil
	case unit == "request/min":
		base, factor, ok = "request/s", 1.0/60, true
	case unit == "bit/s":
		base, factor, ok = "byte/s", 1.0/8, true
	case unit == "Gbit/s":
		base, factor, ok = "byte/s", 1e9/8, true
	case unit == "-":
		base, factor, ok = "", 1, true
	}
	if !ok || base != metric.Unit {
		return 0, fmt.Errorf("unit %q is not one of %s, which is in %q", unit, metric.Name, metric.Unit)
	}
	return factor, nil
}

// find returns the metric of a name, with its statistic.
func (p *producer) find(name string) (target, bool) {
	if t, ok := p.names[name]; ok {
		return t, true
	}
	for _, s := range p.stats {
		if len(name) <= len(s.before)+len(s.after) || !strings.HasPrefix(name, s.before) || !strings.HasSuffix(name, s.after) {
			continue
		}
		if stat := statOf(name[len(s.before) : len(name)-len(s.after)]); stat != "" {
			t := s.target
			t.stat = stat
			return t, true
		}
	}
	return target{}, false
}

// statOf returns the canonical name of a statistic, or "".
func statOf(s string) string {
	s = strings.ToLower(s)
	switch s {
	case "mean", "average", "avg":
		return "mean"
	case "median", "med":
		return "median"
	case "std", "stddev", "std dev":
		return "std"
	case "min", "minimum":
		return "min"
	case "max", "maximum":
		return "max"
	}
	s = strings.TrimPrefix(s, "quantiles_")
	s = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s, "p"), "("), ")")
	if v, err := strconv.ParseFloat(s, 64); err == nil && v >= 0 && v <= 100 {
		return "p" + strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}
