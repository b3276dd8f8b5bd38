package pictures

import (
	"math"
	"slices"
	"testing"

	"assay/internal/test/samplerun"
	"assay/report/plot"
	"assay/summary"
)

// overTime returns a run of n ranks that communicate all the time, on clocks that are 7 ms apart,
// and rank late does so only in the first half of its window. Its strips have bins of 1 ms.
func overTime(n, late int) *summary.Summary {
	s := samplerun.Ranks(n)
	for i := range s.Devices {
		d := &s.Devices[i]
		d.WindowNS = 240 * samplerun.MS
		d.Activity = samplerun.Cells(map[summary.Class]int64{summary.ClassComm: d.WindowNS})
		bins := slices.Repeat([]int64{samplerun.MS}, 240)
		if d.Rank == late {
			clear(bins[120:])
		}
		d.Strip = &summary.Strip{BinNS: samplerun.MS, NS: map[string][]int64{"comm": bins}}
		offset := int64(d.Rank) * 7 * samplerun.MS
		d.StartNS = 1000*samplerun.MS + offset
		for j := range s.Ranks {
			if s.Ranks[j].Rank == d.Rank {
				s.Ranks[j].OffsetNS = &offset
			}
		}
	}
	return s
}

// TestRanksTimeData: cells are differences from the median in parts of the bin, by aligned clocks. A
// rank whose clock is not aligned has none.
func TestRanksTimeData(t *testing.T) {
	s := overTime(8, 5)
	s.Ranks[slices.IndexFunc(s.Ranks, func(r summary.RankWait) bool { return r.Rank == 3 })].OffsetNS = nil
	c, ok := ranksTime(s)
	if !ok {
		t.Fatal("there is no picture")
	}
	rows := c.Body.(plot.HeatMap).Rows
	if len(rows) != timeRows || rows[0].Label != "0" || rows[12].Label != "120 ms" || rows[20].Note != "100%" {
		t.Errorf("rows are %+v", rows)
	}
	for r, row := range rows {
		for i, v := range row.Values {
			want := 0.0
			switch {
			case i == 3:
				want = math.NaN()
			case i == 5 && r >= timeRows/2:
				want = -1
			}
			if math.Abs(v-want) > 1e-9 || math.IsNaN(v) != math.IsNaN(want) {
				t.Errorf("row %d of rank %d is %g, want %g", r, i, v, want)
			}
		}
	}
}

// TestRanksTimeAbsent: equal ranks, windows far apart and clocks that are not aligned have no picture.
func TestRanksTimeAbsent(t *testing.T) {
	apart := overTime(8, 5)
	apart.Devices[2].StartNS += 1000 * samplerun.MS
	unaligned := overTime(8, 5)
	for i := range 5 {
		unaligned.Ranks[i].OffsetNS = nil
	}
	for name, s := range map[string]*summary.Summary{"equal": overTime(8, -1), "apart": apart, "unaligned": unaligned, "no ranks": {}} {
		if _, ok := ranksTime(s); ok {
			t.Errorf("%s: there is a picture", name)
		}
	}
	late := overTime(8, 5)
	late.Devices[2].StartNS += 40 * samplerun.MS // 4 of 28 bins: it has no cells before
	c, ok := ranksTime(late)
	if !ok {
		t.Fatal("there is no picture")
	}
	rows := c.Body.(plot.HeatMap).Rows
	at := slices.IndexFunc(late.Devices, func(d summary.Device) bool { return d.Rank == late.Devices[2].Rank })
	for i, want := range map[int]bool{0: true, 2: true, 4: false, 23: false} {
		if math.IsNaN(rows[i].Values[at]) != want {
			t.Errorf("row %d of a rank that begins 40 ms later is %g", i, rows[i].Values[at])
		}
	}
}
