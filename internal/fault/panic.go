package fault

import (
	"fmt"
	"runtime/debug"
)

// Panic is the error of a recovered panic, with its stack for the log; in names what
// panicked. [From] makes it INTERNAL_ERROR. Call it in the deferred function that
// recovered, where the stack is still that of the panic.
func Panic(in string, p any) error { return fmt.Errorf("panic in %s: %v\n%s", in, p, debug.Stack()) }
