// Package usage reads from journals what calls used: every call by itself, with the
// model, the role, the phase, the task and the attempt that it is booked to, what it
// cost at the prices of its day, how long it took, and what the cache gave. Nothing
// is estimated: a call whose usage was not reported counts as a call and no more.
package usage
