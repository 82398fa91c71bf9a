// Package journal keeps the record of a session: a file of one JSON object a
// line that only grows. With the bodies it is the truth; everything else can be
// made from the two.
//
// # What is guaranteed
//
//   - Order. Records stand in the order of their [Writer.Append]; seq rises from
//     0 without gaps, t never falls.
//   - Durability. What was appended before a [Writer.Sync] that returned without
//     an error survives a crash of the process and of the machine, as far as the
//     disk keeps what it says it has written. What was appended after it may be
//     there in part: some of its records, in order, from the first.
//   - Changed bytes are seen. Each line has a checksum, since version 2; a line
//     that does not fit it is damage. Lines of version 1 have none.
//   - One writer. The operating system's lock keeps a second one out, in this
//     process or another, and dies with its holder. Readers need no lock.
//   - Nothing is thrown away. A torn end is moved to a file beside the journal;
//     what is damaged further up stays where it is and is reported. Types and
//     fields that this program does not know ride along.
//
// Not guaranteed: that an intent stands before its effect. That is the order in
// which a caller appends, syncs and acts. Text of a payload that is not UTF-8
// does not survive; such text belongs into a body.
//
// A lock with a heartbeat would add one thing to a lock of the system: it could
// be taken from a holder that is stopped but not dead. That holder may go on at
// any moment, between its check of the lock and its write, and then two write.
// So there is no heartbeat.
//
// # Files
//
//	<home>/sessions/s<n>-<ulid>.jsonl        the journal
//	<home>/sessions/s<n>-<ulid>.jsonl.lock   pid of the writer, while there is one
//	<home>/sessions/s<n>-<ulid>.jsonl.torn   ends that were cut off
//	<home>/sessions/numbers                  the last session number given out
//	<home>/ingest.lock, <home>/derive.lock   those of [LockHome] and [LockDerived]
//
// Files have mode 0600, folders 0700.
//
// An [Export] is a journal with the bodies that it names in one file; [Import]
// takes it back byte for byte.
package journal
