// Package recordingtest writes recorded sessions for tests: by hand, event by event
// ([Script]), drawn at random ([DrawScripts]), and out of any bytes ([Anything]).
// It says nothing of what is made of them.
package recordingtest
