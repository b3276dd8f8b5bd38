package layers

import "slices"

// slack is the number of kernels that one layer may have more than others.
const slack = 8

// same reports whether two kernels do the same in two layers: they are equal, or both norms, since the first and the last norm of a
// model are often kernels of their own.
func same(a, b *kernel) bool {
	return a.token == b.token || a.role == norm && b.role == norm && a.back == b.back
}

func startsWith(list, prefix []kernel) bool {
	if len(list) < len(prefix) {
		return false
	}
	for i := range prefix {
		if list[i].token != prefix[i].token {
			return false
		}
	}
	return true
}

func endsWith(list, suffix []kernel) bool {
	return len(list) >= len(suffix) && startsWith(list[len(list)-len(suffix):], suffix)
}

func reversed(list []kernel) []kernel {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

// fit returns the length of the part of list, from its start, that differs least from the wanted kernels, or -1 if it differs much.
func fit(wanted, list []kernel) int {
	const most = 600 // the table below grows with the square
	if len(wanted) == 0 {
		return 0
	}
	if len(wanted) > most {
		wanted, list = wanted[:most], list[:min(len(list), most+slack)]
	}
	cost := make([]int, len(list)+1) // of a part of list of each length, in halves of a kernel
	for j := range cost {
		cost[j] = 2 * j
	}
	for i := range wanted {
		before := cost[0]
		cost[0] += 2
		for j := range list {
			c := before
			switch w, l := &wanted[i], &list[j]; {
			case same(w, l):
			case w.role == l.role && w.role > stop:
				c++
			default:
				c += 2
			}
			before = cost[j+1]
			cost[j+1] = min(c, before+2, cost[j]+2)
		}
	}
	best := 0
	for j := range cost {
		if j == 0 || !same(&wanted[len(wanted)-1], &list[j-1]) {
			cost[j]++ // the boundary itself counts more
		}
		if cost[j] < cost[best] {
			best = j
		}
	}
	if 5*cost[best] > 4*len(wanted) && (len(wanted) < 3 || cost[best] > 3) { // two fifths of the kernels, or two
		return -1
	}
	return best
}

// reach returns how many of the wanted kernels are at the start of list in their order, apart from single others, where they end in the
// list, and whether it is another kernel that ends them and not the end of the list.
func reach(wanted, list []kernel) (i, j int, ended bool) {
next:
	for i < len(wanted) && j < len(list) {
		if same(&wanted[i], &list[j]) {
			i, j = i+1, j+1
			continue
		}
		for _, skip := range [...][2]int{{1, 1}, {0, 1}, {1, 0}, {0, 2}, {2, 0}} {
			if agree(wanted[min(len(wanted), i+skip[0]):], list[min(len(list), j+skip[1]):], 2*max(skip[0], skip[1])) {
				i, j = i+skip[0], j+skip[1]
				continue next
			}
		}
		return i, j, true
	}
	return i, j, false
}

// agree reports whether the next kernels of both lists are the same.
func agree(a, b []kernel, enough int) bool {
	if len(a) < enough || len(b) < enough {
		return false
	}
	for i := range enough {
		if !same(&a[i], &b[i]) {
			return false
		}
	}
	return true
}
