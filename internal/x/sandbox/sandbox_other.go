//go:build !linux

package sandbox

// Available says that there is none.
func Available() Support { return Support{} }

func become(Rules, string, []string, []string) error { return ErrNone }
