// Package carrier reads what can be found beside pages: folders of documents,
// memory notes, entries of knowledge, skills. Each kind is files that people can
// read, write and delete; with all of them deleted everything else works.
//
//	documents   a folder of Markdown and text files, cut by heading into sections
//	notes       the same, one note a file or section
//	knowledge   the same, an entry a section; a line "from: s7/p412" names its source
//	skills      a folder with a SKILL.md in each; found by its description only
//
// What is read are values ([retrieve.Entry]) for [retrieve.NewCollection]; files
// are read once, in the order of their paths.
package carrier
