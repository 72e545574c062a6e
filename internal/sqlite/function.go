package sqlite

import (
	engine "database/sql/driver"
	"fmt"

	driver "modernc.org/sqlite"
)

// AddFunction adds a function of one text to the language of each connection that is
// opened after it, in this process. Of null it is null. It must always return the
// same for the same text, because triggers store what it returns.
func AddFunction(name string, of func(text string) string) error {
	return driver.RegisterDeterministicScalarFunction(name, 1, func(_ *driver.FunctionContext, args []engine.Value) (engine.Value, error) {
		switch arg := args[0].(type) {
		case nil:
			return nil, nil
		case string:
			return of(arg), nil
		}
		return nil, fmt.Errorf("%s of a %T, which is no text", name, args[0])
	})
}
