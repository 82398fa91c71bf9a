package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/report"
)

func sampleLines() []report.Line {
	return []report.Line{
		{Name: "quire", Dots: []report.Dot{{Name: "care 20", Faults: .009, Cost: .56}, {Name: "care 80", Faults: .0036, Cost: .63}}},
		{Name: "quire-paid", Dots: []report.Dot{{Name: "care 20, paid", Faults: .011, Cost: .55}, {Name: "care 80, paid", Faults: .0039, Cost: .632}}},
		{Dots: []report.Dot{{Name: "append", Cost: 1}, {Name: "compact", Faults: .0078, Cost: .68}, {Name: "a<b", Faults: .03, Cost: .66}}},
	}
}

func TestCurveGolden(t *testing.T) {
	var got bytes.Buffer
	if err := report.Curve(&got, sampleLines()); err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", "curve.svg"), got.Bytes())
}

// The picture is XML whatever the names are, and with nothing to show.
func TestCurveIsWellFormed(t *testing.T) {
	for _, lines := range [][]report.Line{nil, sampleLines(), {{Name: "one", Dots: []report.Dot{{Name: "]]>&\"<script>"}}}}} {
		var got strings.Builder
		if err := report.Curve(&got, lines); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got.String(), "<script") {
			t.Error("a name became an element")
		}
		dec := xml.NewDecoder(strings.NewReader(got.String()))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}
