// Package limit wraps a model so that only so many calls are under way at once.
package limit
