package summary

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"assay/summary/row"
)

// Descriptions of the rows that can be summed by any key (assay summary --by). Field tags hold the facts.
// A description is built when it is first used, because reading all tags takes 10% of the
// command's start-up time.
var (
	Kernels = sync.OnceValue(func() *row.Kind {
		return row.Describe[Kernel]("kernels", "kernel", "total kernel time", row.MeanOf("mean", "total", "launches"))
	})
	Copies = sync.OnceValue(func() *row.Kind {
		return row.Describe[Copy]("copies", "copy", "copy and memset time", row.MeanOf("mean", "total", "count"))
	})
	Ops = sync.OnceValue(func() *row.Kind {
		return row.Describe[Op]("operators", "operator", "total GPU time",
			row.Meant("operator", "name of an operator; * matches any text", "aten::mm"))
	})
	Modules = sync.OnceValue(func() *row.Kind {
		return row.Describe[Module]("modules", "module", "total GPU time", row.Made("layer", row.Name, (*Module).Layer),
			row.Meant("module", "path of a module; * matches any text", "*/Attention_0"),
			row.Meant("layer", "path of modules without the numbers of instances; * matches any text", "GPT/Block/Attention"))
	})
	Lines = sync.OnceValue(func() *row.Kind {
		return row.Describe[Line]("lines", "line", "total GPU time", row.Made("line", row.Place, (*Line).Place),
			row.Meant("line", "place of a function in the program; * matches any text", "*model.py:12 *"),
			row.Meant("file", "file of a function; * matches any text", "*/model.py"))
	})
	Annotations = sync.OnceValue(func() *row.Kind {
		return row.Describe[Annotation]("annotations", "annotation", "total GPU time",
			row.Meant("annotation", "name of an annotation; * matches any text", "generate"))
	})
	Passes = sync.OnceValue(func() *row.Kind {
		return row.Describe[Pass]("passes", "pass", "total GPU time", row.MeanOf("mean", "GPU time", "GPU operations"),
			row.Meant("pass", "part of training: forward, backward, recompute, optimizer, other or unknown", "backward"))
	})
	Calls = sync.OnceValue(func() *row.Kind {
		return row.Describe[Call]("calls", "call", "the time in calls", row.MeanOf("mean", "total", "calls"), row.OnHost(),
			row.Meant("call", "function of the runtime or driver; * matches any text", "cudaStreamSynchronize"),
			row.Meant("kind", "what calls do (launch, copy, sync, ...); * matches any text", "sync"))
	})
	Idles = sync.OnceValue(func() *row.Kind {
		return row.Describe[Idle]("idle", "cause", "idle time", row.Ordered("owner", Owners()), row.Made("cause", row.Word, (*Idle).Cause),
			row.Meant("in", "call, operator, function or annotation in which the thread was that launched late; * matches any text", "aten::item"),
			row.Meant("cause", "cause of idle time with the state: owner/state; * matches any text", "host-late/synchronizing"))
	})
	Streams = sync.OnceValue(func() *row.Kind {
		return row.Describe[Stream]("streams", "stream", "total time",
			row.Meant("stream", "number of the stream", "7"),
			row.Meant("name", "name of a stream; * matches any text", "*"))
	})
	Spans = sync.OnceValue(func() *row.Kind {
		return row.Describe[Span]("slices", "slice", "self time", row.OnHost(),
			row.Meant("slice", "name of a CPU slice; * matches any text", "*loader*"),
			row.Meant("category", "category of CPU slices as the trace has it; * matches any text", "*"),
			row.Meant("process", "process of CPU slices; * matches any text", "*"),
			row.Meant("thread", "thread of CPU slices; * matches any text", "*"))
	})
)

// firstDescribed are the members that come first in [Described]. Keys that several kinds have are taken from
// the first of them; a kind that is not here comes after these, in the order of [Members].
var firstDescribed = []string{"kernels", "ops", "idle", "modules", "lines", "calls", "copies", "annotations", "passes"}

// Described returns the descriptions of all members that have one.
func Described() (out []*row.Kind) {
	described := slices.DeleteFunc(Members(), func(m Member) bool { return m.Kind() == nil })
	place := func(m Member) int {
		if i := slices.Index(firstDescribed, m.Name()); i >= 0 {
			return i
		}
		return len(firstDescribed)
	}
	slices.SortStableFunc(described, func(a, b Member) int { return cmp.Compare(place(a), place(b)) })
	for _, m := range described {
		out = append(out, m.Kind())
	}
	return out
}

// KeysOf returns the names in JSON of the fields that identify the rows of a member, or nil if they are not described.
func KeysOf(member string) (names []string) {
	for _, m := range members {
		if k := m.Kind(); m.Name() == member && k != nil {
			for i := range k.Columns {
				if c := &k.Columns[i]; c.Adds == row.Key && c.JSON != "" {
					names = append(names, c.JSON)
				}
			}
		}
	}
	return names
}

// RowsOf returns the slice of s with the rows of a kind.
func (s *Summary) RowsOf(k *row.Kind) any {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice && f.Type().Elem() == k.Row {
			return f.Interface()
		}
	}
	panic("summary: no rows of the kind " + k.Name)
}

// Place returns the source position: "dir/model.py:12 forward".
func (l *Line) Place() string {
	if l.File == "" {
		return l.Function
	}
	return strings.TrimSpace(l.File + ":" + strconv.Itoa(l.Line) + " " + l.Function)
}

// Layer returns the path without the numbers of modules. Models repeat their layers, and the modules of
// repeated layers differ only in their numbers, so equal layers have the same text.
func (m *Module) Layer() string {
	parts := strings.Split(m.Path, "/")
	for i, part := range parts {
		if at := strings.LastIndexByte(part, '_'); at >= 0 && strings.Trim(part[at+1:], "0123456789") == "" {
			parts[i] = part[:at]
		}
	}
	return strings.Join(parts, "/")
}

// Cause returns the owner, and its state if it has one: "host-late/synchronizing".
func (r *Idle) Cause() string {
	if r.State == "" {
		return r.Owner
	}
	return r.Owner + "/" + r.State
}
