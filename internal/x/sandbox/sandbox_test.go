package sandbox

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The test binary stands for the program: it answers the hidden command.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		if err := Become(os.Args[2:], os.Environ()); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(125)
		}
	}
	os.Exit(m.Run())
}

func run(t *testing.T, r Rules, command string) (string, error) {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := Wrap(cmd, self, r); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func needs(t *testing.T, has bool) {
	t.Helper()
	if !has {
		t.Skip("the kernel lacks it: " + Available().String())
	}
}

func TestFiles(t *testing.T) {
	needs(t, Available().Files)
	project, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "old"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := Rules{Write: []string{project, filepath.Join(project, "nowhere")}}
	cases := []struct {
		command string
		ok      bool
	}{
		{"echo x > '" + project + "/a'", true},
		{"mkdir -p '" + project + "/d' && mv '" + project + "/a' '" + project + "/d/b' && rm -r '" + project + "/d'", true},
		{"cat '" + outside + "/old'", true},
		{"echo x > /dev/null", true},
		{"echo x > '" + outside + "/a'", false},
		{"echo x >> '" + outside + "/old'", false},
		{"rm '" + outside + "/old'", false},
		{"mkdir '" + outside + "/d'", false},
		{"ln -s '" + outside + "' '" + project + "/l' && echo x > '" + project + "/l/a'", false},
		{"cd '" + project + "' && bash -c 'sh -c \"echo x > " + outside + "/a\"'", false},
	}
	for _, c := range cases {
		if out, err := run(t, r, c.command); (err == nil) != c.ok {
			t.Errorf("%s: %v\n%s", c.command, err, out)
		}
	}
	if data, err := os.ReadFile(filepath.Join(outside, "old")); err != nil || string(data) != "old" {
		t.Errorf("old holds %q, %v", data, err)
	}
}

func TestNetwork(t *testing.T) {
	needs(t, Available().TCP)
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here")
	}
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Skip("no network here:", err)
	}
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	command := "exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + port + "'"
	if out, err := run(t, Rules{Network: true}, command); err != nil {
		t.Errorf("with the network: %v\n%s", err, out)
	}
	if out, err := run(t, Rules{}, command); err == nil {
		t.Errorf("without the network it connected\n%s", out)
	}
}

func TestExitCodeAndArguments(t *testing.T) {
	needs(t, Available().Files)
	cmd := exec.Command("sh", "-c", `echo "$0-$1"; exit 7`, "a b", "c'd")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := Wrap(cmd, self, Rules{}); err != nil {
		t.Fatal(err)
	}
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 7 || strings.TrimSpace(string(out)) != "a b-c'd" {
		t.Errorf("exit %d, %q", cmd.ProcessState.ExitCode(), out)
	}
}

func TestWithoutASandboxNothingRuns(t *testing.T) {
	if Available().Files {
		t.Skip("there is one here")
	}
	if err := become(Rules{}, "sh", []string{"sh"}, nil); err == nil {
		t.Error("want an error")
	}
}

func TestBecomeRefusesStrangers(t *testing.T) {
	for _, args := range [][]string{nil, {"{}"}, {"{", "sh", "sh"}} {
		if err := Become(args, nil); err == nil {
			t.Errorf("%q: want an error", args)
		}
	}
}
