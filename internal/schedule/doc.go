// Package schedule decides what stands in a prompt and in which form. It is the
// heart of Quire: pure, without a model, a clock or chance, and each of its
// decisions says why.
//
// A [Scheduler] follows one stream. Blocks enter at its tail, pages are
// referred to, and [Scheduler.Plan] says before each call what of the stream
// before it stands and what follows. As long as a plan only appends, the
// provider's cache holds; a plan that does not begins an epoch. Epochs are free
// (the cache is lost anyway), forced (the window is full) or paid (from what
// was saved before, see [Account]).
//
// Which pages lose their place at an epoch follows from one comparison: what
// carrying a page until the next epoch costs, against what it would cost that
// the page is missed, times how likely that is. The likelihood is a [Table],
// fitted on recorded sessions and shipped as data. What belongs to another task than
// the one at hand ([Work]) is less likely to be needed: a switch changes what goes at
// the next epoch, and begins none.
//
// Tokens are not the only bound: bytes of a request, the number of its images and
// their pixels ([Cap]) force an epoch too, in which images are the first to go.
package schedule
