// Package skill offers procedures that somebody wrote down: a folder with a SKILL.md
// whose front matter has a name and a description. A skill is known by its
// description: where the user's words match it, one line says so ([Set.Match]). It is
// run by a call of the tool skill, whose result is its text: instructions for the
// turn, never quoted as knowledge. The text is read when it is run.
package skill
