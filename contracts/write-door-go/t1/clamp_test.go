package clamp

import "testing"

func TestClamp(t *testing.T) {
	rows := []struct {
		name string
		v    int
		want int
	}{
		{name: "inside", v: 5, want: 5},
		{name: "below", v: -3, want: 0},
		{name: "above", v: 42, want: 10},
		{name: "at hi", v: 10, want: 10},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := Clamp(row.v, 0, 10); got != row.want {
				t.Errorf("%s: Clamp(%d, 0, 10) = %d, want %d", row.name, row.v, got, row.want)
			}
		})
	}
}
