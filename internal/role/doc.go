// Package role says who the agents of a team are: roles, the brains that give each
// role its models, and the modes in which a brain works.
//
// All of it is data. A role is a file of the folder data, or one of the same form
// in the folder roles of the home; adding a role is adding a file. A brain is a
// preset of brains.json in the home; it extends another one, in the end the
// built-in one, which runs every role on the model of the run.
package role
