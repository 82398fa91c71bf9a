package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
)

// inParallel calls do for 0 to n-1, as many at a time as there are processors,
// and joins the errors in the order of the numbers. After an error it starts no
// more.
func inParallel(n int, do func(i int) error) error {
	return atOnceOf(runtime.GOMAXPROCS(0), n, do)
}

// atOnceOf is inParallel for so many workers: more than there are processors where
// they mostly wait.
func atOnceOf(workers, n int, do func(i int) error) error {
	next := make(chan int)
	stop := make(chan struct{})
	errs := make([]error, n)
	var once sync.Once
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				if errs[i] = do(i); errs[i] != nil {
					once.Do(func() { close(stop) })
				}
			}
		})
	}
feed:
	for i := range n {
		select {
		case <-stop:
			break feed
		case next <- i:
		}
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

// A progress shows on a terminal, in one line that is written again and again,
// how far long work is. Elsewhere it is silent. It may be used by several
// goroutines.
type progress struct {
	mu    sync.Mutex
	w     io.Writer // nil: silent
	what  string
	done  int
	total int
}

func (inv *invocation) progress(what string, total int) *progress {
	p := &progress{what: what, total: total}
	if inv.errTerminal {
		p.w = inv.err
	}
	return p
}

func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.w != nil {
		fmt.Fprintf(p.w, "\r\x1b[K%s %d of %d", p.what, p.done, p.total)
	}
}

// end clears the line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil && p.done > 0 {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
