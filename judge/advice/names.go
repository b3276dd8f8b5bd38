package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
)

// Name returns the display name of a rank. If one input covers several GPUs, these are compared, so
// the name is that of the GPU: "GPU 5", or "rank 1 GPU 5" if there are several ranks.
func (w RankWaits) Name(r summary.RankWait) string {
	one, shared := w.numbering()
	switch {
	case shared && one:
		return fmt.Sprintf("GPU %d", r.Device)
	case shared:
		return fmt.Sprintf("%s GPU %d", RankName(r.Rank), r.Device)
	}
	return RankName(r.Rank)
}

// Names returns the names of ranks in order: "rank 5", "ranks 0 and 6".
func (w RankWaits) Names(list []summary.RankWait) string {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b summary.RankWait) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device))
	})
	var names []string
	for _, r := range list {
		names = append(names, w.Name(r))
	}
	names = slices.Compact(names)
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	prefix := ""
	if one, shared := w.numbering(); !shared || one {
		word, _, _ := strings.Cut(names[0], " ")
		for i := range names {
			names[i] = strings.TrimPrefix(names[i], word+" ")
		}
		prefix = word + "s "
	}
	return prefix + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Kind returns the word for what is compared: "rank" or "GPU".
func (w RankWaits) Kind() string {
	if _, shared := w.numbering(); shared {
		return "GPU"
	}
	return "rank"
}

// numbering reports whether all GPUs have one rank, and whether any GPUs share a rank.
func (w RankWaits) numbering() (one, shared bool) {
	seen := map[int]bool{}
	for _, r := range w.Ranks {
		shared = shared || seen[r.Rank]
		seen[r.Rank] = true
	}
	return len(seen) == 1, shared
}
