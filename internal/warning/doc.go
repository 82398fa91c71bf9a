// Package warning watches a session for what its model should be told and does not
// see by itself: files that somebody else changed since it read them ([Watch.Changed]),
// that it goes round in circles, that it changed something and ran nothing that
// would show whether it works. A warning has an id, is given out once ([Watch.Take]),
// and is not repeated for the same cause in the same turn.
package warning
