package fs

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/tool"
)

//go:embed edit.md
var editPrompt string

type editArgs struct {
	Path string `json:"path" jsonschema:"the file"`
	Old  string `json:"old_string" jsonschema:"the text to replace, exactly as it stands there"`
	New  string `json:"new_string" jsonschema:"the text in its place"`
	All  bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence"`
}

func (f *Files) edit() tool.Tool {
	return tool.New("edit", editPrompt, func(a editArgs) tool.Want { return writes(a.Path) }, f.runEdit)
}

// failures.md B22 is why an edit is exact, unique and of what was read.
func (f *Files) runEdit(ctx context.Context, a editArgs) (tool.Result, error) {
	f.changing.Lock()
	defer f.changing.Unlock()
	rel, failed := f.resolve(a.Path)
	if failed != nil {
		return *failed, nil
	}
	data, failed := f.load(rel, a.Path)
	if failed != nil {
		return *failed, nil
	}
	if failed := f.stale(rel, a.Path, data); failed != nil {
		return *failed, nil
	}
	changed, said := replace(string(data), a)
	if said.Error {
		return said, nil
	}
	return f.finish(ctx, []write{{path: rel, data: []byte(changed)}}, said)
}

// replace gives the text after an edit, or a result that says why there is none.
func replace(text string, a editArgs) (string, tool.Result) {
	old, put := a.Old, a.New
	if strings.Contains(text, "\r\n") && !strings.Contains(old, "\r\n") {
		// The model sees and writes line feeds; the file keeps its ends.
		old, put = strings.ReplaceAll(old, "\n", "\r\n"), strings.ReplaceAll(put, "\n", "\r\n")
	}
	count := 0
	if old != "" {
		count = strings.Count(text, old)
	}
	switch {
	case old == "":
		return "", tool.Failed("old_string is empty. Use write to make a file or to replace all of it.")
	case old == put:
		return "", tool.Failed("old_string and new_string are the same; nothing was changed.")
	case count == 0:
		return "", tool.Failed("old_string is not in %s. Nothing was changed.%s", a.Path, nearest(text, a.Old))
	case count > 1 && !a.All:
		return "", tool.Failed("old_string is in %s %d times, at lines %s. Nothing was changed. Take more of the lines around the one you mean, or set replace_all.", a.Path, count, places(text, old))
	}
	at := lineOf(text, strings.Index(text, old))
	said := fmt.Sprintf("Edited %s: line %d.", a.Path, at)
	if last := at + strings.Count(put, "\n"); last > at {
		said = fmt.Sprintf("Edited %s: lines %d-%d.", a.Path, at, last)
	}
	if count > 1 {
		said = fmt.Sprintf("Edited %s: %d places, the first at line %d.", a.Path, count, at)
	}
	return strings.ReplaceAll(text, old, put), tool.Result{Text: said}
}

// lineOf is the line, from 1, that a byte is in.
func lineOf(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }

// places lists the lines where a text stands.
func places(text, old string) string {
	const most = 10
	var list []string
	from := 0
	for {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return strings.Join(list, ", ")
		}
		if len(list) == most {
			return strings.Join(list, ", ") + ", …"
		}
		list = append(list, fmt.Sprint(lineOf(text, from+i)))
		from += i + len(old)
	}
}
