package recent

import (
	"strconv"
	"testing"
)

func TestMapRemembersTheLast(t *testing.T) {
	m := Map[int]{Limit: 10}
	for i := range 1000 {
		m.Put(strconv.Itoa(i), i)
		for j := max(0, i-9); j <= i; j++ {
			if v, ok := m.Get(strconv.Itoa(j)); !ok || v != j {
				t.Fatalf("after %d: %d is %d, %v", i, j, v, ok)
			}
		}
		if n := len(m.young) + len(m.old); n > 20 {
			t.Fatalf("after %d: %d keys are held", i, n)
		}
	}
	if _, ok := m.Get("900"); ok {
		t.Error("a key from long ago is still known")
	}
	m.Put("999", -1)
	if v, _ := m.Get("999"); v != -1 {
		t.Errorf("999 is %d after it was put again", v)
	}
	if m.Clear(); m.young != nil || m.old != nil {
		t.Error("something is left after Clear")
	}
}
