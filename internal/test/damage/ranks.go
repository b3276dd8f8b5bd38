package damage

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// A File is the trace of one rank.
type File struct {
	Name string
	JSON []byte
}

// A RanksKind is one kind of damage to the files of a run of several ranks.
type RanksKind struct {
	Name string
	// Hidden: no file holds evidence of what the damage hides.
	Hidden bool
	// Apply returns the damaged files. One of them is that of the rank at the given index.
	Apply func(files []File, rank int) []File
}

// RanksKinds returns all kinds of damage to runs.
func RanksKinds() (out []RanksKind) {
	one := func(hidden bool, name string, apply func([]byte) []byte) {
		out = append(out, RanksKind{name, hidden, func(files []File, rank int) []File {
			files = slices.Clone(files)
			files[rank].JSON = apply(files[rank].JSON)
			return files
		}})
	}
	all := func(hidden bool, name string, apply func([]File, int) []File) {
		out = append(out, RanksKind{name, hidden, apply})
	}
	const hour = 3_600e6 // us
	one(false, "a rank of another run, 2 h later", edited(everything, later(2*hour)))
	one(false, "a rank of another run, 180 s later", edited(everything, later(hour/20)))
	all(false, "a rank copied", func(files []File, rank int) []File {
		from := files[(rank+1)%len(files)]
		return replaced(files, rank, File{files[rank].Name, numbered(from.JSON, numberOf(files[rank].JSON))})
	})
	one(false, "GPU durations of a rank times 1000", edited(onGPU, scaled("dur", 1000)))
	one(false, "times of a rank in ms", edited(everything, scaled("ts", 0.001), scaled("dur", 0.001)))
	// If waits hardly vary, an offset of the clock explains this.
	one(true, "collectives of a rank a tenth as long", edited(communication, scaled("dur", 0.1)))
	one(false, "a rank without its collectives", edited(collectives, drop))
	one(false, "a rank cut in half", func(text []byte) []byte { return text[:len(text)/2] })
	one(false, "clock of a rank off by 10 s", edited(everything, later(10e6)))
	all(false, "names of files shuffled", func(files []File, rank int) (out []File) {
		for i, f := range files {
			out = append(out, File{files[(i+rank+1)%len(files)].Name, f.JSON})
		}
		return out
	})
	all(true, "a rank missing", func(files []File, rank int) []File { return slices.Delete(slices.Clone(files), rank, rank+1) })
	one(false, "a rank without events", edited(everything, drop))
	one(false, "another world size in a rank", func(text []byte) []byte { return worldSize.ReplaceAll(text, []byte(`"world_size": 640`)) })
	one(false, "a rank of other steps", func(text []byte) []byte { return Renumbered(text, 100) })
	all(false, "two runs mixed", func(files []File, rank int) []File {
		files = slices.Clone(files)
		for i := len(files) / 2; i < len(files); i++ {
			files[i].JSON = stretched(edited(everything, later(2*hour))(files[i].JSON), 2)
		}
		return files
	})
	return out
}

var (
	rankNumber = regexp.MustCompile(`"rank": (\d+)`)
	worldSize  = regexp.MustCompile(`"world_size": \d+`)
	stepName   = regexp.MustCompile(`^ProfilerStep#(\d+)$`)
)

func numberOf(text []byte) string {
	if m := rankNumber.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return "0"
}

// numbered returns a trace with another rank.
func numbered(text []byte, rank string) []byte {
	return rankNumber.ReplaceAll(bytes.Clone(text), []byte(`"rank": `+rank))
}

func replaced(files []File, i int, by File) []File {
	files = slices.Clone(files)
	files[i] = by
	return files
}

// later moves events, as a clock or another run does. Times may also be before 0.
func later(us float64) edit {
	return func(e event) []event {
		if _, ok := e["ts"]; !ok {
			return []event{e}
		}
		return []event{with(e, "ts", of(number(e["ts"])+us))}
	}
}

// stretched returns a trace that takes longer from its first event on.
func stretched(text []byte, times float64) []byte {
	first := -1.0
	for _, e := range list(text, func(e event) bool { return e["ph"] == "X" }) {
		if at := number(e["ts"]); first < 0 || at < first {
			first = at
		}
	}
	return edited(func(e event) bool { return e["ts"] != nil }, func(e event) []event {
		return []event{with(e, "ts", of(first+(number(e["ts"])-first)*times))}
	}, func(e event) []event {
		if e["dur"] == nil {
			return []event{e}
		}
		return []event{with(e, "dur", of(number(e["dur"])*times))}
	})(text)
}

func collectives(e event) bool {
	return communication(e) || category("cpu_op")(e) && named(e, "record_param_comms")
}

// Renumbered returns a trace with other numbers of steps.
func Renumbered(text []byte, by int) []byte {
	return edited(everything, func(e event) []event {
		name, _ := e["name"].(string)
		m := stepName.FindStringSubmatch(name)
		if m == nil {
			return []event{e}
		}
		n, _ := strconv.Atoi(m[1])
		return []event{with(e, "name", fmt.Sprintf("ProfilerStep#%d", n+by))}
	})(text)
}

// Scaled returns a trace whose compute kernels take longer.
func Scaled(text []byte, times float64) []byte {
	return edited(func(e event) bool { return kernels(e) && !communication(e) }, scaled("dur", times))(text)
}
