package config

// Tasks are the workspaces of the task server.
type Tasks struct {
	Roots      []string    `yaml:"roots"`      // folders that every workspace must be in
	Workspaces []Workspace `yaml:"workspaces"` // of several people
	Personal   string      `yaml:"personal"`   // the folder of the personal workspaces; empty: there are none

	Issuer string `yaml:"-"` // whose user names count: the one that signs people in
	Local  string `yaml:"-"` // the one root of a server without sign-in
}

// Workspace is one shared workspace.
type Workspace struct {
	Path   string   `yaml:"path"`
	Name   string   `yaml:"name"`   // default: the folder's
	People []string `yaml:"people"` // user names
	Roles  []string `yaml:"roles"`  // anyone with one of them may open it, too
}

// CodeSearch is what code search serves, and where its indexes are.
type CodeSearch struct {
	Repositories []CodeRepository `yaml:"repositories"`
	Index        string           `yaml:"index"` // folder of the indexes; `countersign index` writes it
	Store        string           `yaml:"store"` // an Elasticsearch or OpenSearch that has them instead
	Embeddings   Embeddings       `yaml:"embeddings"`

	// Links are the forms of a place's address on the web, by the host of a repository's remote "origin".
	Links map[string]string `yaml:"links"`
}

// Embeddings is an address that speaks OpenAI's /v1/embeddings. Without it code is
// found by words alone.
type Embeddings struct {
	BaseURL string `yaml:"base_url"` // up to and with /v1
	Model   string `yaml:"model"`
	APIKey  string `yaml:"api_key"`
}

// CodeRepository is one folder that is searched, and who may see it.
type CodeRepository struct {
	Path      string   `yaml:"path"`
	Name      string   `yaml:"name"`      // default: that of the folder
	Roles     []string `yaml:"roles"`     // any of them may see it; default: employee
	Anonymous bool     `yaml:"anonymous"` // programs on this machine need no token for it
	Public    bool     `yaml:"public"`    // pages of any origin may read it, without a token, on this machine
}
