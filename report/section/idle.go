package section

import "assay/summary"

// IdleOwner returns the owner of most of the idle time.
func (ctx *Context) IdleOwner() string {
	owners := summary.Idles().By(ctx.Judged.Idle, "owner")
	if len(owners.Rows) == 0 {
		return ""
	}
	return owners.Text(&owners.Rows[0], "owner")
}

// IdleForOthers reports whether the CPU causes less than half of the idle time. A GPU
// that waits for another stream or rank has its work already.
func (ctx *Context) IdleForOthers() bool {
	hosts, all := int64(0), int64(0)
	for _, r := range ctx.Judged.Idle {
		all += r.NS
		switch r.Owner {
		case summary.OwnerHost, summary.OwnerLaunch, summary.OwnerBetween:
			hosts += r.NS
		}
	}
	return hosts < all-hosts
}
