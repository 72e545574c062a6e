package app

import "runtime/debug"

// Version is the version that this program was built as.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// website is where the product is described, for clients that show it.
const website = "https://countersign.dev/"
