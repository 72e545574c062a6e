package sqlite

import (
	engine "database/sql/driver"
	"fmt"
	"strings"
	"sync"

	driver "modernc.org/sqlite"
)

// AddLower adds lower_all(text), which knows the letters of all scripts, where lower knows
// those of ASCII alone.
var AddLower = sync.OnceValue(func() error {
	return AddFunction("lower_all", 1, func(args []engine.Value) (engine.Value, error) {
		if text, ok := args[0].(string); ok {
			return strings.ToLower(text), nil
		}
		return args[0], nil
	})
})

// AddFunction adds a function to the language of each connection that is opened after
// it, in this process. It must always return the same for the same arguments, because
// triggers store what it returns. Bytes that it is given are valid during the call.
func AddFunction(name string, arguments int32, of func(args []engine.Value) (engine.Value, error)) error {
	return driver.RegisterDeterministicScalarFunction(name, arguments, func(_ *driver.FunctionContext, args []engine.Value) (engine.Value, error) {
		result, err := of(args)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return result, err
	})
}
