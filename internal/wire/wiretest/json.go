package wiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// SameJSON reports how two JSON texts differ: members may come in another order,
// everything else is the same, numbers by their literals. Of members with one
// name the last counts.
func SameJSON(a, b []byte) error {
	x, err := decode(a)
	if err != nil {
		return err
	}
	y, err := decode(b)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(x, y) {
		return fmt.Errorf("not the same JSON:\n%s\n%s", a, b)
	}
	return nil
}

func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("%s: %w", raw, err)
	}
	return v, nil
}
