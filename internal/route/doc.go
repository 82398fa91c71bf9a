// Package route turns what the user wants into a plan of work: which role does
// it, who supports it, what is to be done in which order, whether the result is
// reviewed, or what has to be asked first. It writes the prompt of the router,
// normalises its reply ([Parse]), and plans by rules where there is none
// ([Heuristic]). A plan is a graph: what may start now is asked of it ([Plan.Next]).
//
// Everything here is pure: no clock, no chance, no I/O. The same request and reply
// give the same plan.
//
// A plan has at most one worker of each role, so that a role names a worker of the
// plan. The model's part is a proposal: roles, limits, edges and whether there is a
// review are decided here.
package route
