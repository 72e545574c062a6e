// Package supervise runs a program so that nothing of it outlives this process:
// neither the program nor what it started, also when this process is killed.
//
// A copy of this executable, the supervisor, starts the program and adopts every
// process that the program leaves behind. It ends all of them on request,
// when the program has ended, and when the pipe to this process breaks. An
// executable that uses the package calls [Main] first when [Asked] says so.
//
// It knows no protocol: the caller speaks over standard input and output.
package supervise
