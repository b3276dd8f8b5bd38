package summary

// SetRanks sets the ranks of the rows of GPUs if one input has the traces of several ranks. ranks
// maps the number of a GPU to its rank. Rows of the CPU keep the rank of the input.
func (s *Summary) SetRanks(ranks map[int64]int) {
	for _, k := range members {
		k.rerank(s, ranks)
	}
	s.Sort()
}

func (k *rows[Row]) rerank(s *Summary, ranks map[int64]int) {
	list := *k.In(s)
	for i := range list {
		at := k.At(&list[i])
		if at.Rank == nil || at.Device == nil {
			continue
		}
		if rank, ok := ranks[*at.Device]; ok {
			*at.Rank = rank
		}
	}
}
