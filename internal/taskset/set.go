package taskset

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed data/*.txtar
var texts embed.FS

// All are the tasks of the set, in the order of their names.
func All() ([]*Task, error) {
	entries, err := texts.ReadDir("data")
	if err != nil {
		return nil, fmt.Errorf("read the tasks: %w", err)
	}
	var list []*Task
	for _, e := range entries {
		text, err := texts.ReadFile(path.Join("data", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the tasks: %w", err)
		}
		t, err := Parse(strings.TrimSuffix(e.Name(), ".txtar"), string(text))
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}
