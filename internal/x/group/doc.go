// Package group starts a command with everything that it starts itself as one
// group, so that ending the command ends all of it.
package group
