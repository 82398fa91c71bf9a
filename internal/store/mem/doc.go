// Package mem keeps the pool in memory, for tests and for runs that leave
// nothing behind. It behaves as the stores on disk do, except that nothing is
// durable and nothing can be damaged.
package mem
