package norms

// Owned reports whether a file is the user's own. Windows does not say that by the
// mode of a file, so that all are.
func Owned(string) bool { return true }
