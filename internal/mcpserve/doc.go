// Package mcpserve offers the memory to any client of the Model Context Protocol,
// over standard input and output: the tool recall finds pages, the tool show reads
// one. It is the one importer of the protocol's library, and knows nothing of how
// pages are found.
package mcpserve
