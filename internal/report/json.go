package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/quire-agent/quire/internal/audit"
)

// JSON writes the report as one indented JSON object. Names are those of the
// json tags in package audit and only grow in number. Times are RFC 3339 in
// UTC; days are those of the report's zone; a figure that is not known is null.
func JSON(w io.Writer, r audit.Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write report as JSON: %w", err)
	}
	return nil
}
