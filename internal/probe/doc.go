// Package probe asks recorded sessions for what they needed again: a probe is a call
// of a session, and a line that its answer took from a page that had entered long
// before. Under the policy that is asked, the line either stands in the prompt of
// that call, or one recall brings it back, or it is lost.
//
// The recall is the one that an agent has: its answer has at most [run.RecallAnswer]
// tokens, over the pages that the session had at that time. What is asked for are
// some words of the line and of the needed lines beside it, as somebody remembers
// them ([Words]), or words of what the model wrote around all needed lines, without
// those ([Around]).
//
// Which needs become probes follows from a seed. Nothing is chosen by what comes of
// it.
package probe
