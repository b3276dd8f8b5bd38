package logs

import (
	"cmp"
	"maps"
	"slices"

	"assay/internal/stat"
	"assay/logs"
	"assay/summary"
)

// intervals finds how many steps each record of a program has, and which records are warm-up. Trainers log the mean
// of the steps since the last record (logging_steps, log_interval), so the rise of the number tells. A rise over
// the usual one is a record that the log lacks. Records of a program that numbers not all of them have one step.
func (m *seriesMeasure) intervals(kept map[string]keeping) {
	rows := m.out.Steps
	m.warm = make([]bool, len(rows))
	byMarker := map[string][]int{}
	var order []string
	for i := range rows {
		if byMarker[rows[i].Marker] == nil {
			order = append(order, rows[i].Marker)
		}
		byMarker[rows[i].Marker] = append(byMarker[rows[i].Marker], i)
	}
	for _, marker := range order {
		of := byMarker[marker]
		starts, usual := startsOf(rows, of), int64(1)
		if k := kept[marker]; !k.unnumbered {
			usual = m.interval(marker)
			if !k.untimed && !lasts(rows, of, usual) {
				usual = 1
			}
		}
		walls, covers := make([]float64, len(of)), make([]int64, len(of))
		for k, i := range of {
			rise := rows[i].Number
			if k > 0 && rows[i].Number > rows[of[k-1]].Number {
				rise -= rows[of[k-1]].Number
			}
			walls[k], covers[k] = float64(rows[i].WallNS), min(usual, max(1, rise))
			if covers[k] > 1 {
				rows[i].Steps = covers[k]
			}
		}
		for k, warm := range stat.WarmUp(walls, covers, starts) {
			m.warm[of[k]] = warm
		}
	}
}

// keeping is what records of a program lack.
type keeping struct{ unnumbered, untimed bool }

func (k keeping) with(numbered, timed bool) keeping {
	return keeping{k.unnumbered || !numbered, k.untimed || !timed}
}

// lasts reports whether records are as far apart in time as a number of steps takes. Some programs number steps by
// the samples that they have used.
func lasts(rows []summary.Step, of []int, steps int64) bool {
	var apart []float64
	for k, i := range of {
		if k > 0 && rows[i].Number > rows[of[k-1]].Number && rows[i].WallNS > 0 {
			before := &rows[of[k-1]]
			between := float64(rows[i].StartNS+rows[i].WallNS) - float64(before.StartNS+before.WallNS)
			apart = append(apart, between/float64(rows[i].WallNS))
		}
	}
	return len(apart) == 0 || stat.Median(apart) >= 0.5*float64(steps)
}

// startsOf returns the indices in of at which the program started.
func startsOf(rows []summary.Step, of []int) (starts []int) {
	for k, i := range of {
		if k == 0 || rows[i].Number <= rows[of[k-1]].Number {
			starts = append(starts, k)
		}
	}
	return starts
}

// interval returns the usual rise of the number of steps from one record of a program to the next. A record need
// not have the time of its step, so all values count.
func (m *seriesMeasure) interval(producer string) int64 {
	type record struct {
		run  int32
		step int64
	}
	seen := map[record]bool{}
	for i := range m.log.Series {
		if s := &m.log.Series[i]; s.Producer == producer && s.Points.Step != nil {
			for k, step := range s.Points.Step {
				if step != logs.NoStep {
					seen[record{s.Points.RunAt(k), step}] = true
				}
			}
		}
	}
	list := slices.SortedFunc(maps.Keys(seen), func(a, b record) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.step, b.step))
	})
	var rises []int64
	for i, at := range list {
		if i > 0 && at.run == list[i-1].run {
			rises = append(rises, at.step-list[i-1].step)
		}
	}
	return max(1, stat.Median(rises))
}
