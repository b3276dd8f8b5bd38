package tracegen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// An Edit says what becomes of an event of a trace: it is left out, or begins so
// many µs later.
type Edit struct {
	Drop    bool
	LaterUS float64
}

// Rewrite returns a trace with some of its events changed, as a profiler that loses
// records would have written it, and how many were. What f gets is the category and
// name of each event and its number among those of its category, from 0.
func Rewrite(text []byte, f func(category, name string, i int) Edit) (out []byte, changed int) {
	return Split(text).Rewrite(f)
}

// Records are the events of a trace, read once to be rewritten several times.
type Records struct {
	rest   map[string]json.RawMessage // what the file has beside its events
	events []record
}

type record struct {
	raw            json.RawMessage
	category, name string
}

// Split separates the events of a trace.
func Split(text []byte) *Records {
	r := new(Records)
	must(json.Unmarshal(text, &r.rest))
	var events []json.RawMessage
	must(json.Unmarshal(r.rest["traceEvents"], &events))
	for _, raw := range events {
		var e struct{ Cat, Name any }
		must(json.Unmarshal(raw, &e))
		raw, err := json.Marshal(raw)
		must(err)
		category, _ := e.Cat.(string)
		name, _ := e.Name.(string)
		r.events = append(r.events, record{raw, category, name})
	}
	r.rest["traceEvents"] = nil // events has them
	for key, value := range r.rest {
		value, err := json.Marshal(value)
		must(err)
		r.rest[key] = value
	}
	return r
}

// Rewrite does what the function of that name does.
func (r *Records) Rewrite(f func(category, name string, i int) Edit) (out []byte, changed int) {
	seen := map[string]int{}
	var kept [][]byte
	for _, e := range r.events {
		edit := f(e.category, e.name, seen[e.category])
		seen[e.category]++
		if edit != (Edit{}) {
			changed++
		}
		if edit.Drop {
			continue
		}
		kept = append(kept, e.moved(edit.LaterUS))
	}
	for i, key := range slices.Sorted(maps.Keys(r.rest)) {
		out = append(out, "{,"[min(i, 1)])
		name, err := json.Marshal(key)
		must(err)
		out = append(append(out, name...), ':')
		if key != "traceEvents" {
			out = append(out, r.rest[key]...)
			continue
		}
		out = append(append(append(out, '['), bytes.Join(kept, []byte(","))...), ']')
	}
	return append(out, '}'), changed
}

// moved returns the event with a later time.
func (r *record) moved(us float64) json.RawMessage {
	var e map[string]any
	if us == 0 {
		return r.raw
	}
	must(json.Unmarshal(r.raw, &e))
	ts, ok := e["ts"].(float64)
	if !ok {
		return r.raw
	}
	e["ts"] = ts + us
	raw, err := json.Marshal(e)
	must(err)
	return raw
}

// Change returns a trace in which f has replaced each event by those that it returns:
// none to drop it, two to write it twice. Numbers are [json.Number], so those that f
// leaves alone keep all digits.
func Change(text []byte, f func(e map[string]any) []map[string]any) []byte {
	var doc map[string]json.RawMessage
	must(json.Unmarshal(text, &doc))
	var events []map[string]any
	d := json.NewDecoder(bytes.NewReader(doc["traceEvents"]))
	d.UseNumber()
	must(d.Decode(&events))
	kept := []map[string]any{}
	for _, e := range events {
		kept = append(kept, f(e)...)
	}
	list, err := json.Marshal(kept)
	must(err)
	doc["traceEvents"] = list
	out, err := json.Marshal(doc)
	must(err)
	return out
}

// Lose drops the given share of the events of one category, evenly spread: the
// records that a full buffer costs.
func Lose(text []byte, category string, share float64) (out []byte, lost int) {
	return Rewrite(text, func(c, _ string, i int) Edit {
		return Edit{Drop: c == category && int(float64(i+1)*share+1e-9) > int(float64(i)*share+1e-9)}
	})
}

func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("tracegen: a trace of its own: %v", err))
	}
}
