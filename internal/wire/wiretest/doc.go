// Package wiretest is what the tests of the wire packages share: calls and
// replies as text for golden files, streams added up, JSON compared.
package wiretest
