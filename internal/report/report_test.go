package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/audit"
	"github.com/quire-agent/quire/internal/report"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

type form struct {
	file  string
	write func(io.Writer, audit.Report) error
}

func forms() []form {
	plain := func(w io.Writer, r audit.Report) error { return report.Terminal(w, r, report.Style{Width: 80}) }
	colour := func(w io.Writer, r audit.Report) error {
		return report.Terminal(w, r, report.Style{Width: 110, Color: true})
	}
	return []form{{"audit.txt", plain}, {"audit.ansi", colour}, {"audit.json", report.JSON}, {"audit.html", report.HTML}}
}

func TestGolden(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.file, func(t *testing.T) {
			var got bytes.Buffer
			if err := f.write(&got, sample()); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", f.file), got.Bytes())
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at the difference and run the test with -update", path)
	}
}

func text(t *testing.T, r audit.Report, s report.Style) string {
	t.Helper()
	var b strings.Builder
	if err := report.Terminal(&b, r, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFirstScreen holds the promise that the four answers fit on a terminal of
// 80 by 24 and need no word of ours.
func TestFirstScreen(t *testing.T) {
	out := text(t, sample(), report.Style{Width: 80})
	first, _, found := strings.Cut(out, "By model")
	if !found {
		t.Fatal("no details after the first screen")
	}
	if n := strings.Count(strings.TrimRight(first, "\n"), "\n") + 1; n > 24 {
		t.Errorf("the first screen has %d lines", n)
	}
	at := -1
	for _, q := range []string{"WHAT DID I SPEND?", "ON WHAT?", "WHAT WAS WASTED?", "WHAT WOULD HAVE HELPED?"} {
		if i := strings.Index(first, q); i <= at {
			t.Errorf("%q is not in its place", q)
		} else {
			at = i
		}
	}
	jargon := regexp.MustCompile(`(?i)rendition|epoch|fault|residen|oracle|append|amplif|evict|prefix`)
	if word := jargon.FindString(first); word != "" {
		t.Errorf("the first screen says %q", word)
	}
}

func TestLinesFitTheScreen(t *testing.T) {
	for _, width := range []int{40, 80, 132} {
		for line := range strings.Lines(text(t, sample(), report.Style{Width: width})) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > max(width, 80) {
				t.Errorf("%d columns at width %d: %q", n, width, line)
			}
		}
	}
}

func TestPlainTextHasNoEscapes(t *testing.T) {
	if out := text(t, sample(), report.Style{}); strings.ContainsRune(out, '\x1b') {
		t.Error("escape codes in plain text")
	}
}

func TestHostileTextIsHarmless(t *testing.T) {
	r := sample()
	r.Pages[0].Target = "\x1b]0;title\x07<script>alert(1)</script>\u202e"
	r.Models[0].Name = "\x1b[2J<img src=x onerror=alert(1)>"
	r.Skipped[0].Reason = "\r\x1b[2K</td>"
	if out := text(t, r, report.Style{}); strings.ContainsAny(out, "\x1b\x07\r\u202e") {
		t.Error("control characters on the terminal")
	}
	var b bytes.Buffer
	if err := report.HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b.Bytes(), []byte("<script")) || bytes.Contains(b.Bytes(), []byte("<img")) {
		t.Error("markup from a log in the page")
	}
}

func TestEmptyReport(t *testing.T) {
	for _, f := range forms() {
		var b strings.Builder
		if err := f.write(&b, audit.Report{Zone: "UTC"}); err != nil {
			t.Errorf("%s: %v", f.file, err)
		}
		if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Errorf("%s: a division by zero", f.file)
		}
	}
}

func TestWithoutPrices(t *testing.T) {
	r := sample()
	r.Totals.Cost, r.Replayed.Cost = nil, nil
	r.Totals.InputCost, r.Totals.OutputCost = 0, 0
	out := text(t, r, report.Style{})
	for _, want := range []string{"no price known", "Without prices nobody can say."} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestNothingWouldHaveHelped(t *testing.T) {
	r := sample()
	for name, p := range r.Policies {
		if p.ToRecorded = ptr(.995); p.Oracle {
			p.ToRecorded = ptr(.5)
		}
		r.Policies[name] = p
	}
	if out := text(t, r, report.Style{}); !strings.Contains(out, "No way that was tried comes out below $44.10. One that knew the future") {
		t.Error("a help is named that helps nothing")
	}
}

// TestJSONNames holds the names that scripts rely on.
func TestJSONNames(t *testing.T) {
	var b bytes.Buffer
	if err := report.JSON(&b, sample()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Sessions []struct {
			Path, Agent, ID, Project string
			Calls                    int
			Usage                    struct {
				Input  *int64 `json:"input"`
				Read   *int64 `json:"cache_read"`
				Write  *int64 `json:"cache_write"`
				Output *int64 `json:"output"`
			}
			Cost     *float64 `json:"cost_usd"`
			Policies map[string]struct {
				Cost   *float64 `json:"cost_usd"`
				Ratio  *float64 `json:"ratio_to_append"`
				Faults *int     `json:"faults"`
				Wide   *int     `json:"faults_wide"`
				Mean   *float64 `json:"mean_prompt"`
				Peak   *int     `json:"peak_prompt"`
			}
		}
		Totals struct {
			Calls      int
			Duplicates int
			Usage      struct{ Output *int64 }
			Cost       *float64 `json:"cost_usd"`
		}
		Skipped []struct {
			Path, Reason string
			Line         int
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Sessions[0]
	if s.Path == "" || s.Agent == "" || s.ID == "" || s.Project == "" || s.Calls != 700 || s.Usage.Input == nil || s.Usage.Read == nil ||
		s.Usage.Write == nil || s.Usage.Output == nil || s.Cost == nil {
		t.Errorf("a session lacks fields: %+v", s)
	}
	if p := s.Policies["compact"]; p.Cost == nil || p.Ratio == nil || p.Faults == nil || p.Wide == nil || p.Mean == nil || p.Peak == nil {
		t.Errorf("a policy lacks fields: %+v", p)
	}
	if got.Totals.Calls != 1_204 || got.Totals.Duplicates != 41 || got.Totals.Usage.Output == nil || got.Totals.Cost == nil {
		t.Errorf("the totals lack fields: %+v", got.Totals)
	}
	if len(got.Skipped) != 2 || got.Skipped[0].Line != 812 {
		t.Errorf("skipped: %+v", got.Skipped)
	}
}

// TestPageIsWhole holds that the page loads nothing and is well formed.
func TestPageIsWhole(t *testing.T) {
	var b bytes.Buffer
	if err := report.HTML(&b, sample()); err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?i)(src|href|action)\s*=|url\(|@import|https?://|<script|<link`).Find(b.Bytes()); m != nil {
		t.Errorf("the page refers to something: %s", m)
	}
	dec := xml.NewDecoder(&b)
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestTablesOfAnyText holds that no text breaks the layout.
func TestTablesOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := sample()
		r.Pages[0].Target = rapid.String().Draw(t, "target")
		r.Projects[0].Name = rapid.String().Draw(t, "project")
		r.Sessions[0].Path = rapid.String().Draw(t, "path")
		var b strings.Builder
		if err := report.Terminal(&b, r, report.Style{Width: rapid.IntRange(0, 200).Draw(t, "width")}); err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(b.String()) || strings.ContainsRune(b.String(), '\x1b') {
			t.Fatal("not plain text")
		}
	})
}
