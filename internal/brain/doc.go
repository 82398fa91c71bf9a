// Package brain takes a request through a team: route, clarify, plan, a pool of
// workers, the primary that does the change, checks, an independent review, a
// bounded number of fixes, one report.
//
// Bottom up: a [Job] is the work of one agent, and a [Staff] opens agents: each is a
// loop of package run over a stream of its own. What goes down to an agent is a
// [packet.Handoff], what comes up is a [packet.Result], and nothing else passes: no
// agent sees the stream of another one, and the Brain sees none. The stream of the
// session itself is the primary's, so that a session of many runs goes on as one
// conversation; the router has one of its own for the whole session, a worker and a
// reviewer one for each job.
//
// Every step is recorded before the next one begins, and a step that is recorded is
// not done again: a run that was killed goes on from its journal ([Brain.Resume]).
// What an agent had done by then stands in its own stream, from which it goes on.
//
// Only this package makes handoffs. It decides nothing that package route, check or
// review can decide without a model.
package brain
