package window

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseNumbers reads a list of ranks, GPUs or streams such as "0,3,5-7", and reports whether
// it is one. The numbers are in order.
func ParseNumbers(text string) (list []int, ok bool) {
	const most = 1 << 20
	for _, part := range strings.Split(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			high = low
		}
		a, err1 := strconv.ParseUint(low, 10, 24)
		b, err2 := strconv.ParseUint(high, 10, 24)
		if err1 != nil || err2 != nil || b < a || len(list)+int(b-a) >= most {
			return nil, false
		}
		for n := a; n <= b; n++ {
			list = append(list, int(n))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), true
}

// ListNumbers returns ascending numbers as text: "0, 3, 5-7".
func ListNumbers(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		switch {
		case k > i+1:
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[k]))
		default:
			k = i
			parts = append(parts, strconv.Itoa(list[i]))
		}
		i = k + 1
	}
	return strings.Join(parts, ", ")
}
