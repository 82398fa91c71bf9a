// Package task infers which task a turn of a session belongs to (section 6.7 of
// the design). A task is what its turns are about: the files they touch, the
// names and words they use, the todos they work on. Labels change at once; what
// stands in the prompt does not change here.
//
// A switch needs two signs of different kinds, or a mark by the user. Whatever is
// unclear stays with the current task: a false switch throws away what is being
// worked on, a missed one keeps what is not needed.
//
// Tasks in different parts of the code, or in different projects, are told apart.
// Tasks that share their files and their words mostly are not, and that is not
// promised: what they share is what both need. On interleaved recorded sessions of
// different projects B³ is .83, of sessions that follow each other in one project
// .48, little more than if all were one task: each looser sign that was tried (a
// share of .5 in place of .3 to .35, own features or recent ones alone) finds at
// most .52 there and switches falsely in more than 2 % of the turns.
//
// A mark that names its task ("/task refunds") goes back to it, by its name or its
// goal, and begins one of that name where there is none.
//
// Everything follows from the arguments. What is kept of a task is bounded, and a
// turn is compared only with tasks that share something with it, so that work per
// turn does not grow with the session.
package task
