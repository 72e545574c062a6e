package codesearch

import "countersign.dev/internal/fault"

// The domain's own faults.
var (
	errNotIndexed = &fault.Code{Name: "SEARCH_ERROR", Kind: fault.Unavailable, Status: 503,
		Meaning: "No index can be searched: it is being built, was never built, or cannot be read.", Suggest: "Try again in a minute. If it stays so, ask your administrator.", Instruct: "Try again in a minute. If it stays so, build the index with countersign index.", Subject: []string{"repository"}}
	errRepositoryNotFound = &fault.Code{Name: "REPOSITORY_NOT_FOUND", Kind: fault.NotFound, Status: 200,
		Meaning: "No repository has this name, or the caller may not see it.", Instruct: "Use list_repositories to find the names of repositories.", Via: "list_repositories", Subject: []string{"repository"}}
	errFileNotFound = &fault.Code{Name: "FILE_NOT_FOUND", Kind: fault.NotFound, Status: 200,
		Meaning: "The index has no file at this path.", Instruct: "Use search_code to find paths.", Via: "search_code", Subject: []string{"file_path"}, Details: []string{"repository"}}

	codes = []*fault.Code{errNotIndexed, errRepositoryNotFound, errFileNotFound}
)
