// Package audit says where the tokens and the money of recorded sessions went.
//
// An [Audit] takes sessions one at a time, keeps only figures of each (never a
// body), and makes one [Report] of them. What a report says does not depend on
// the order in which the sessions came.
//
// Three sources stand side by side and are never mixed up: what the provider
// reported (usage, exactly as recorded), what Quire counted (tokens by kind, by
// tool and by page, from calibrated counts), and what was replayed (the
// policies). Money is the recorded usage times the price table; the money of a
// kind, a tool or a page is its share of the money of the calls that sent it.
//
// A call found in several files counts once, in the first of them by path. What
// is measured on sessions (tools, pages, repeats, cache losses, residency,
// policies) counts a session that holds only such calls not at all, and one that
// shares some calls with another in full.
//
// Calls are numbered from 1 in everything a report shows.
package audit
