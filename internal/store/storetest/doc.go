// Package storetest holds what every store must do, as one suite that each of
// them runs.
package storetest
