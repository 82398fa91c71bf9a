// Package taskset is a set of small tasks with which to see whether a way of
// keeping a context loses what the work needs. Each is a text: the files of a
// project, what the user says and how long the user pauses, a command that tells
// whether the task is done, and the script of a model that plays it where there is
// no real one.
//
// What a task turns on is a fact: a word or a number that is made of a seed, comes
// up once, early, in what the user says or in what a tool answers, and is asked for
// later. The seed makes it, so that nobody can know it: a script cannot hold it, and
// a scripted model writes it only where a condition found it in the prompt that it
// was sent. The check compares with the fact.
//
// The package lays the files out, leads the talk and runs the check. Who the agent
// is, which model it calls and what of its context it keeps is the caller's.
package taskset
