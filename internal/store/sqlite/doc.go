// Package sqlite keeps the pool in two SQLite files of a home folder. bodies.db
// is truth: bodies by their hash. pool.db is derived: page table, heads and the
// segments of indexes; it may be deleted, and is made anew from journals and
// bodies. Both have mode 0600.
//
// Bodies are compressed each for itself, so that a damaged place in the file
// harms no other body, and checked against their hash whenever they are read.
// What their names say follows from the bytes.
//
// Several processes may use the files at once. They write one after another;
// readers do not wait. Nothing depends on a clock.
package sqlite
