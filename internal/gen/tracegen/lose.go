package tracegen

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	var doc map[string]json.RawMessage
	must(json.Unmarshal(text, &doc))
	var events, kept []json.RawMessage
	must(json.Unmarshal(doc["traceEvents"], &events))
	seen := map[string]int{}
	for _, raw := range events {
		var e map[string]any
		must(json.Unmarshal(raw, &e))
		category, _ := e["cat"].(string)
		name, _ := e["name"].(string)
		edit := f(category, name, seen[category])
		seen[category]++
		if edit != (Edit{}) {
			changed++
		}
		if edit.Drop {
			continue
		}
		if ts, ok := e["ts"].(float64); ok && edit.LaterUS != 0 {
			e["ts"] = ts + edit.LaterUS
			var err error
			raw, err = json.Marshal(e)
			must(err)
		}
		kept = append(kept, raw)
	}
	list, err := json.Marshal(kept)
	must(err)
	doc["traceEvents"] = list
	out, err = json.Marshal(doc)
	must(err)
	return out, changed
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
