// Package retry wraps a model so that what may pass is tried again: rates and
// overload, faults of the provider and of the connection, and answers that broke
// off before anything of them was handed on.
package retry
