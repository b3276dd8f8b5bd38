package monitor

import (
	_ "embed" // columns.txt
	"fmt"
	"strings"
	"sync"

	"assay/logs"
)

//go:embed columns.txt
var columnsText string

// A column describes the values of a column.
type column struct {
	metric logs.Metric
	factor float64
	skip   bool
}

type columnKey struct{ kind, name string }

type columnTable struct {
	exact    map[columnKey]column
	prefixes []struct {
		columnKey
		column
	}
}

var columns = sync.OnceValue(func() *columnTable {
	t, err := parseColumns(columnsText)
	if err != nil {
		panic(err) // a test parses them
	}
	return t
})

func parseColumns(text string) (*columnTable, error) {
	t := &columnTable{exact: map[columnKey]column{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		f := strings.Fields(line)
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		if len(f) != 4 {
			return nil, fmt.Errorf("columns.txt:%d: has %d words, want 4", n, len(f))
		}
		var c column
		if c.skip = f[2] == "skip"; !c.skip {
			metric, ok := logs.MetricOf(f[2])
			base, factor, known := logs.ScaleOf(f[3], false)
			if !ok || !known || base != metric.Unit {
				return nil, fmt.Errorf("columns.txt:%d: no metric %s in %s", n, f[2], f[3])
			}
			c.metric, c.factor = metric, factor
		}
		key := columnKey{f[0], f[1]}
		if prefix, ok := strings.CutSuffix(key.name, "*"); ok {
			key.name = prefix
			t.prefixes = append(t.prefixes, struct {
				columnKey
				column
			}{key, c})
			continue
		}
		t.exact[key] = c
	}
	return t, nil
}

// columnOf returns the column with a name. An unknown column becomes a metric of that name.
func columnOf(kind, name string) column {
	t := columns()
	if c, ok := t.exact[columnKey{kind, name}]; ok {
		return c
	}
	for _, p := range t.prefixes {
		if p.kind == kind && strings.HasPrefix(name, p.name) {
			return p.column
		}
	}
	return column{metric: logs.Unnamed(name), factor: 1}
}
