// Package vector finds pages by meaning: texts are turned into vectors by an
// endpoint that speaks the embeddings API of OpenAI, and those of the pages are kept
// in the derived part of a pool. It is off unless somebody names an endpoint, and
// nothing needs it.
//
//	Endpoint  texts → vectors, over HTTP
//	Sets      the vectors of sessions in the store; derived, may be deleted
//	Index     both together: makes what is missing, finds what is near
//
// Vectors are kept as bytes with a scale. All of them are compared with that of the
// question, one by one: about a tenth of a second for 100,000 pages, most of it
// reading.
package vector
