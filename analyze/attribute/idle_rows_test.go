package attribute

import "testing"

// TestFullTable: causes without a name keep their rows in a full table; a name shares the row of the other names.
func TestFullTable(t *testing.T) {
	x := &idleness{maxRows: 1, names: []string{"", "a", "b", otherNames}, others: 3}
	rows := idleTable{index: map[idleKey]int32{}}
	for i, name := range []int32{1, 0, 2, 0} {
		if got, want := rows.rowOf(x, idleKeyOf(0, 0, name)), []int32{0, 1, 2, 1}[i]; got != want {
			t.Errorf("name %d: row %d, want %d", name, got, want)
		}
	}
	if rows.keys[2].name() != x.others {
		t.Error(rows.keys)
	}
}
