package todo

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/tool"
)

func TestList(t *testing.T) {
	list := &List{}
	cases := []struct {
		args, want string
		failed     bool
		items      int
	}{
		{`{"todos":[{"content":"read","status":"done"},{"content":"edit","status":"in_progress"}]}`, "1 of 2 done", false, 2},
		{`{"todos":[{"content":"read","status":"open"}]}`, `status "open"`, true, 2},
		{`{"todos":[{"content":" ","status":"done"}]}`, "thing 1 says nothing", true, 2},
		{`{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]}`, "at most one", true, 2},
		{`{"todos":[{"content":"` + strings.Repeat("a", maxItem+1) + `","status":"done"}]}`, "longer than", true, 2},
		{`{"todos":[` + strings.Repeat(`{"content":"a","status":"done"},`, maxItems) + `{"content":"a","status":"done"}]}`, "too many", true, 2},
		{`{"todos":[]}`, "0 of 0", false, 0},
		{`{}`, "missing", true, 0},
	}
	for _, c := range cases {
		got, err := list.Tool().Run(t.Context(), tool.Input{Args: json.RawMessage(c.args)})
		if err != nil || got.Error != c.failed || !strings.Contains(got.Text, c.want) || len(list.Items()) != c.items {
			t.Errorf("%.80s: %+v, %v, %d items", c.args, got, err, len(list.Items()))
		}
	}
}

func TestItemsAreTheCallers(t *testing.T) {
	list := &List{}
	given := []Item{{"a", Pending}}
	list.Set(given)
	given[0].Content = "b"
	list.Items()[0].Content = "c"
	if got := list.Items()[0].Content; got != "a" {
		t.Errorf("the list holds %q", got)
	}
}
