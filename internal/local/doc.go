// Package local serves the tasks or the code of one folder to one person on their own
// machine, over standard input and output: without Redis, an issuer or a gateway.
// What it keeps is in the folder's .countersign.
//
// Its person is the one that the operating system names. A change that needs
// their approval waits in a file there, and [Approve] answers it from a terminal,
// which a coding agent does not have. Start with [Serve].
package local
