// Package todo is the list of what the agent is going to do: the only queue of
// work there is. The model replaces it whole; the run reads it for its state.
package todo
