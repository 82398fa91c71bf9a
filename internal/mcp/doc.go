// Package mcp speaks the Model Context Protocol, in both directions. It offers the
// memory to any client over standard input and output ([Serve]): the tool recall
// finds pages, the tool show reads one. And it is a client itself: a [Hub] connects
// to the servers of a user and a project, over standard input and output or
// streamable HTTP, and makes their tools the agent's.
//
// The list of tools that a session began with stays as it is, byte for byte. What a
// server adds later is told in a message and called through one general tool; what
// it takes away is told too. A server of a project is started only where the user
// has trusted exactly what would be started.
//
// It is the one importer of the protocol's library.
package mcp
