// Package ingest takes recorded sessions into the pool and keeps what is derived
// from them.
//
// It works in two steps that meet only in the journal:
//
//   - [Importer.Import] turns the events of a log into a journal: bodies first,
//     durably, then the lines that name them, made durable where a call begins.
//     The page numbers are given here, in the line that admits a page.
//   - [Pool.Derive] reads a journal and the bodies that it names and makes the
//     rows of the page table and the documents of the index. It knows nothing of
//     the log, so that a rebuild is the same thing done again, and a crash
//     between the steps costs nothing but doing the second.
//
// [Pool.Check] compares the two sides and changes nothing. [Pool.Garbage] finds
// bodies that no journal names.
//
// Text that Quire itself put into a prompt is recorded like all text, so that
// the record is whole, but it is in no page and in no index: what its tool
// returned, what stands in a frame of ours, and what an agent had our program
// print, by whatever shell.
//
// Logs are imported one at a time in a home, and rows and index are made by one
// at a time, also among processes: whoever wants to import while somebody else
// does is refused, whoever wants to derive waits.
package ingest
