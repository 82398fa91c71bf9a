// Package review is the part of a review that needs no model: what the reviewer is
// asked ([Prompt]), how its reply is read ([Parse]), how strict a review has to be
// for the risk of a change, and which decisions do not stand ([Gate]): one by the
// model that wrote the change, one against failing checks, one that looked at
// nothing.
//
// Everything here is pure. The reviewer sees what is handed in here and nothing of
// what the author's context holds.
package review
