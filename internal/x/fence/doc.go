// Package fence confines paths to one folder by what they resolve to, so that
// neither "..", an absolute path nor a symbolic link leads out of it.
package fence
