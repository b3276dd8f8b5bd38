package health

import (
	"cmp"
	"strings"

	"assay/internal/lazyregexp"
)

// boards are models of GPUs whose NVLinks the board connects, so that all of them should be up.
var boards = lazyregexp.New(`SXM|HBM3|\b[BH][23]00$|\bGB\d00`)

// down returns the parts that are down although equal parts are up: the same link of most GPUs of the model that have
// links, nearly all links of the GPU, the port of this name on most other nodes. Of ports of one node alone, all others
// must be up, and that is a warning: a port may be unused.
func (m *machine) down(p *property, values []*value) (out []fault) {
	type peers struct{ all, up int }
	groups := map[string]*peers{}
	mostUp := func(name string, least int, share float64) bool {
		others := groups[name].all - 1
		return others >= least && float64(groups[name].up) >= share*float64(others)
	}
	own := func(v *value) string {
		gpu, _, _ := strings.Cut(v.part, " link ")
		if gpu == v.part {
			gpu = m.class(v)
		}
		return v.node + "\x00" + gpu
	}
	equal := func(v *value) string {
		_, link, _ := strings.Cut(v.part, " link ")
		return cmp.Or(link, v.part) + "\x00" + m.class(v)
	}
	for _, v := range values {
		for _, name := range []string{own(v), equal(v)} {
			if groups[name] == nil {
				groups[name] = &peers{}
			}
			groups[name].all++
			if healthy(v.last(), p.list) {
				groups[name].up++
			}
		}
	}
	for _, v := range values {
		if healthy(v.last(), p.list) {
			continue
		}
		f := fault{value: v, property: p, now: v.last()}
		gpu, _, isLink := strings.Cut(v.part, " link ")
		switch onBoard := boards().MatchString(m.text(v.node, gpu, "gpu.model")); {
		case isLink && onBoard && m.counts[[2]string{v.node, "gpu.model"}] > 1, // one GPU of a board has nothing to talk to
			isLink && groups[own(v)].up > 0 && (mostUp(own(v), 2, 0.75) || mostUp(equal(v), 3, 0.75)),
			!isLink && mostUp(equal(v), 1, 0.75):
		case !isLink && groups[equal(v)].all == 1 && mostUp(own(v), 3, 1):
			once := *p
			once.level, f.property = "warning", &once
		default:
			continue
		}
		out = append(out, f)
	}
	return out
}
