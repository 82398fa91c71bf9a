package sandbox

import "testing"

// What may be written may be moved and linked from folder to folder, with and without
// the network.
func TestFromFolderToFolder(t *testing.T) {
	needs(t, version() >= withRefer)
	for _, network := range []bool{true, false} {
		project := t.TempDir()
		command := "cd '" + project + "' && mkdir a b && echo x > a/x && ln a/x b/y && ln b/y z"
		if out, err := run(t, Rules{Write: []string{project}, Network: network}, command); err != nil {
			t.Errorf("with the network %t: %v: %s", network, err, out)
		}
	}
}
