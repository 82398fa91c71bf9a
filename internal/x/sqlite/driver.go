package sqlite

import (
	"errors"

	"modernc.org/sqlite"
)

// driverName is what the library calls itself.
const driverName = "sqlite"

// codeOf is the result code in an error of the library, 0 when there is none.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}
