package summary

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"assay/summary/row"
)

// The descriptions of rows of which people ask for sums by any key. Their tags describe the
// fields. A description is made when it is first needed, because reading tags takes a tenth of the
// start of the command.
var (
	Kernels = sync.OnceValue(func() *row.Kind {
		return row.Describe[Kernel]("kernels", "kernel", "total kernel time", row.MeanOf("mean", "total", "launches"))
	})
	Copies = sync.OnceValue(func() *row.Kind {
		return row.Describe[Copy]("copies", "copy", "copy and memset time", row.MeanOf("mean", "total", "count"))
	})
	Ops     = sync.OnceValue(func() *row.Kind { return row.Describe[Op]("operators", "operator", "total GPU time") })
	Modules = sync.OnceValue(func() *row.Kind {
		return row.Describe[Module]("modules", "module", "total GPU time", row.Made("layer", row.Name, (*Module).Layer))
	})
	Lines = sync.OnceValue(func() *row.Kind {
		return row.Describe[Line]("lines", "line", "total GPU time", row.Made("line", row.Place, (*Line).Place))
	})
	Annotations = sync.OnceValue(func() *row.Kind { return row.Describe[Annotation]("annotations", "annotation", "total GPU time") })
	Passes      = sync.OnceValue(func() *row.Kind {
		return row.Describe[Pass]("passes", "pass", "total GPU time", row.MeanOf("mean", "GPU time", "GPU operations"))
	})
	Calls = sync.OnceValue(func() *row.Kind {
		return row.Describe[Call]("calls", "call", "the time in calls", row.MeanOf("mean", "total", "calls"))
	})
	Idles = sync.OnceValue(func() *row.Kind {
		return row.Describe[Idle]("idle", "cause", "idle time", row.Ordered("owner", Owners()), row.Made("cause", row.Word, (*Idle).Cause))
	})
	Streams = sync.OnceValue(func() *row.Kind { return row.Describe[Stream]("streams", "stream", "total time") })
	Spans   = sync.OnceValue(func() *row.Kind { return row.Describe[Span]("slices", "slice", "self time") })
)

// Described returns the descriptions.
func Described() []*row.Kind {
	return []*row.Kind{
		Kernels(), Ops(), Idles(), Modules(), Lines(), Calls(), Copies(), Annotations(), Passes(), Streams(), Spans(),
	}
}

// RowsOf returns the rows of a kind.
func (s *Summary) RowsOf(k *row.Kind) any {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice && f.Type().Elem() == k.Row {
			return f.Interface()
		}
	}
	panic("summary: no rows of the kind " + k.Name)
}

// Place is where the line is found: "dir/model.py:12 forward".
func (l *Line) Place() string {
	if l.File == "" {
		return l.Function
	}
	return strings.TrimSpace(l.File + ":" + strconv.Itoa(l.Line) + " " + l.Function)
}

// Layer is the path without the numbers of modules of one class. Models repeat their layers, and
// such modules differ in their numbers only.
func (m *Module) Layer() string {
	parts := strings.Split(m.Path, "/")
	for i, part := range parts {
		if at := strings.LastIndexByte(part, '_'); at >= 0 && strings.Trim(part[at+1:], "0123456789") == "" {
			parts[i] = part[:at]
		}
	}
	return strings.Join(parts, "/")
}

// Cause is the owner with the state: "host-late/synchronizing".
func (r *Idle) Cause() string {
	if r.State == "" {
		return r.Owner
	}
	return r.Owner + "/" + r.State
}
