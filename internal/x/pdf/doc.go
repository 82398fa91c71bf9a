// Package pdf takes the text out of PDF documents, page by page, in the order in
// which the document draws it. It reads what programs that write text produce:
// objects and object streams, deflated contents, fonts with a table of characters
// or a simple encoding (ISO 32000-1, sections 7, 8.10 and 9). It draws nothing,
// runs nothing, knows no passwords, and finds no text in pictures of it.
package pdf
