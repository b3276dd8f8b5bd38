package torchprof

import (
	"strings"

	"assay/internal/profile"
)

// A role is the meaning of a column for the reader.
type role uint8

const (
	ignored role = iota
	theName
	aLabel
	theStack
	aTime
	aShare
	aSize
	aCount
	someFlops
)

// numeric reports whether cells of the kind are never empty.
func (w role) numeric() bool { return w >= aTime }

// cpu is the place of the columns with CPU times.
const cpu = "CPU"

// A column is one column of a printed table.
type column struct {
	role
	key   string // name of a label
	place string // "CPU", or the device
	self  bool
	mean  bool
	size  int64 // operations per printed unit
}

// flops lists the units of the column with floating-point operations.
var flops = map[string]int64{
	"FLOPs": 1, "KFLOPs": 1e3, "MFLOPs": 1e6, "GFLOPs": 1e9, "TFLOPs": 1e12, "PFLOPs": 1e15,
}

// parseHeader parses a header. It returns nil if the line is not one: a header
// has a name column first and a time column. Columns are separated by two
// spaces; their dashes are not used, because some headers are wider.
func parseHeader(line string) []column {
	cells := words(line)
	if len(cells) < 2 || len(cells) > maxColumns || cells[0] != "Name" {
		return nil
	}
	var out []column
	times := false
	for _, text := range cells {
		c := columnOf(text)
		times = times || c.role == aTime
		out = append(out, c)
	}
	if !times {
		return nil
	}
	return out
}

// words splits a line at two or more spaces.
func words(line string) (out []string) {
	for _, part := range strings.Split(line, "  ") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// columnOf returns the column with the given header.
func columnOf(text string) column {
	switch text {
	case "Name":
		return column{role: theName}
	case "Overload Name":
		return column{role: aLabel, key: "overload"}
	case "Node ID":
		return column{role: aLabel, key: "node"}
	case "Input Shapes":
		return column{role: aLabel, key: "shapes"}
	case "Source Location":
		return column{role: theStack, key: "stack"}
	case "# of Calls", "Number of Calls":
		return column{role: aCount}
	}
	if rest, ok := strings.CutPrefix(text, "Total "); ok {
		if size := flops[rest]; size > 0 {
			return column{role: someFlops, size: size}
		}
	}
	c := column{}
	rest, self := strings.CutPrefix(text, "Self ")
	c.self = self
	if c.place, rest, _ = strings.Cut(rest, " "); !isPlace(c.place) {
		return column{}
	}
	switch rest {
	case "%", "total %":
		c.role = aShare
	case "", "total", "time total":
		c.role = aTime
	case "time avg":
		c.role, c.mean = aTime, true
	case "Mem":
		c.role = aSize
	}
	if c.role == aTime && rest == "" && !self {
		return column{}
	}
	return c
}

// isPlace reports whether a word can be the name of a device: in capitals, such
// as CUDA, XPU, HPU, MTIA, NPU, PRIVATEUSEONE.
func isPlace(s string) bool {
	if len(s) < 2 || len(s) > 32 {
		return false
	}
	for _, r := range s {
		if (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' {
			return false
		}
	}
	return s[0] >= 'A'
}

// heading returns the heading of the column in a table, or false if the column
// is not part of one. The columns of the first device have the same names for
// any device; those of a second device contain its name.
func (c *column) heading(device string) (h profile.Heading, ok bool) {
	where := strings.ToLower(c.place)
	if c.place == device {
		where = "device"
	}
	h.Adds = profile.Total
	if c.self {
		h.Adds = profile.Self
	}
	switch c.role {
	case aTime:
		h.Unit = "nanoseconds"
		switch {
		case c.mean:
			h.Name, h.Adds = where+"_mean", profile.Each
		case c.self:
			h.Name = "self_" + where
		default:
			h.Name = where + "_total"
		}
	case aSize:
		h.Unit = "bytes"
		if h.Name = where + "_bytes"; c.self {
			h.Name = "self_" + h.Name
		}
	case aCount:
		h = profile.Heading{Name: "count", Unit: "count", Adds: profile.Self}
	case someFlops:
		h = profile.Heading{Name: "flops", Unit: "count", Adds: profile.Total}
	default:
		return h, false
	}
	return h, true
}
