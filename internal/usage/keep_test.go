package usage_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/usage"
)

// failures.md B19: what is kept of a journal is what stands in it, whatever became of
// journal and kept file; costs are by the prices of the one who asks.
func TestKeepIsTheJournal(t *testing.T) {
	path := written(t)
	k := usage.Keep{Dir: filepath.Join(t.TempDir(), "cache")}
	file := filepath.Join(k.Dir, filepath.Base(path)+".json")
	same := func(when string) {
		t.Helper()
		want, err := usage.Read(path, price.Default())
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.Read(path, price.Default())
		if err != nil || !reflect.DeepEqual(totals(got), totals(want)) || len(got) != len(want) {
			t.Errorf("%s: %+v, want %+v, %v", when, got, want, err)
		}
		for i := range got {
			if g, w := got[i], want[i]; !g.At.Equal(w.At) || g.Scope != w.Scope || g.Usage != w.Usage || g.Took != w.Took || (g.Cost == nil) != (w.Cost == nil) || g.Session != w.Session || g.Call != w.Call {
				t.Errorf("%s: call %d is %+v, want %+v", when, i, g, w)
			}
		}
	}
	same("at first")
	same("again")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if calls, err := k.Read(path, nil); err != nil || calls[0].Cost != nil {
		t.Errorf("without prices the cost is %v, %v", calls[0].Cost, err)
	}
	for name, text := range map[string]string{"cut": string(before[:len(before)/2]), "empty": "", "old": `{"version": 0}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		same(name)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"v":1,"t":"call","call":"c9","model":"m"` + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	same("longer, with a line that is damaged")
	if after, err := os.ReadFile(file); err != nil || string(after) == string(before) {
		t.Errorf("what is kept is still that of before, %v", err)
	}
	if err := k.Prune([]string{path}); err != nil {
		t.Fatal(err)
	}
	same("pruned with it")
	if err := k.Prune(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("what is kept of a journal that is gone is still there: %v", err)
	}
}

func totals(calls []usage.Call) usage.Totals { return usage.All(calls) }

// Where nothing can be kept everything is read.
func TestKeepNowhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if calls, err := (usage.Keep{Dir: file}).Read(written(t), price.Default()); err != nil || len(calls) != 4 {
		t.Errorf("%d calls, %v", len(calls), err)
	}
	if _, err := (usage.Keep{Dir: file}).Read(file+"x", nil); err == nil {
		t.Error("a journal that is not there can be read")
	}
}
