package view

// Group adds up rows with equal keys. For the first row of a key, start creates the sum; add then adds this
// row and all others to it. The sums are in the order of their first rows.
func Group[R, S any, K comparable](rows []R, key func(*R) K, start func(*R) S, add func(*S, *R)) (sums []S) {
	at := map[K]int{}
	for i := range rows {
		r := &rows[i]
		k := key(r)
		n, ok := at[k]
		if !ok {
			n = len(sums)
			at[k] = n
			sums = append(sums, start(r))
		}
		add(&sums[n], r)
	}
	return sums
}
