package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/storetest"
)

// childVar makes the test binary a process that writes to a home. Its value is
// the home, the number of its first round and the number of rounds.
const childVar = "QUIRE_TEST_STORE"

func TestMain(m *testing.M) {
	if what := os.Getenv(childVar); what != "" {
		if err := beChild(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func beChild(what string) error {
	parts := strings.Split(what, "|")
	first, err1 := strconv.Atoi(parts[1])
	rounds, err2 := strconv.Atoi(parts[2])
	s, err3 := Open(context.Background(), parts[0], Options{})
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	for n := first; n < first+rounds; n++ {
		if err := writeRound(s, n); err != nil {
			return err
		}
		fmt.Println(n)
	}
	return s.Close()
}

// writeRound puts what belongs to a number: some bodies, then as many rows that
// name them.
func writeRound(s *Store, n int) error {
	ctx := context.Background()
	bodies := roundBodies(n)
	hs, err := s.PutBodies(ctx, bodies)
	if err != nil {
		return err
	}
	return s.PutRows(ctx, roundRows(n, hs))
}

func roundBodies(n int) [][]byte {
	draw := rand.New(rand.NewPCG(uint64(n), 11))
	bodies := make([][]byte, 1+draw.IntN(12))
	for i := range bodies {
		bodies[i] = storetest.Text(draw, 1+draw.IntN(1<<draw.IntN(16)))
	}
	return bodies
}

func roundRows(n int, hs []quire.Hash) []quire.Row {
	rows := make([]quire.Row, len(hs))
	for i, h := range hs {
		rows[i] = quire.Row{Page: quire.Page{Number: quire.PageNumber(i + 1), Body: h}, Session: quire.SessionNumber(n), Owner: "user:ann"}
	}
	return rows
}

// wantRound holds that all that belongs to a number is there, byte for byte.
func wantRound(t *testing.T, s *Store, n int) {
	t.Helper()
	ctx := context.Background()
	bodies := roundBodies(n)
	var found int
	for r, err := range s.Rows(ctx, quire.Reader{Who: "user:ann"}, quire.Filter{Session: quire.SessionNumber(n)}) {
		if err != nil {
			t.Fatal(err)
		}
		body, err := s.Body(ctx, r.Body)
		if err != nil || string(body) != string(bodies[r.Number-1]) {
			t.Errorf("round %d: body of %s comes back as %d bytes, %v", n, r.Ref(), len(body), err)
		}
		found++
	}
	if found != len(bodies) {
		t.Errorf("round %d: %d rows, want %d", n, found, len(bodies))
	}
}

// A child is a process that writes to a home.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bufio.Reader
	err strings.Builder
}

func startChild(t *testing.T, home string, first, rounds int) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, cmd: exec.Command(self)}
	c.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d|%d", childVar, home, first, rounds))
	c.cmd.Stderr = &c.err
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	return c
}

// round is the next round that the child has written.
func (c *child) round() int {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("the child has ended: %v %s", err, &c.err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// kill kills the child and returns the last round that it acknowledged, at least
// the given one.
func (c *child) kill(last int) int {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	rest, err := io.ReadAll(c.out)
	if err != nil {
		c.t.Fatal(err)
	}
	_ = c.cmd.Wait() // says that it was killed
	lines := strings.Split(string(rest), "\n")
	for _, line := range lines[:len(lines)-1] {
		if last, err = strconv.Atoi(line); err != nil {
			c.t.Fatal(err)
		}
	}
	return last
}

// end waits until the child has written all its rounds.
func (c *child) end() {
	c.t.Helper()
	_, _ = io.Copy(io.Discard, c.out)
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("the child failed: %v %s", err, &c.err)
	}
}
