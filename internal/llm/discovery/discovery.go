// Package discovery finds a model without a configuration: the one that was
// named, that the environment has a key of, or that runs on this machine. Start
// with [Find].
package discovery

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/config"
	"countersign.dev/internal/llm"
	"countersign.dev/internal/llm/vendor"
)

// Model is a model that was found.
type Model struct {
	Name    string
	Options llm.Options
	Said    string // which, and why, for people
}

// The models of vendors that are taken unless one is named: able, and not the
// dearest.
const (
	anthropicModel = "claude-sonnet-5-5"
	geminiModel    = "gemini-2.5-flash"
	openaiModel    = "gpt-5.4-mini"
)

// localServer is a server of models on this machine.
type localServer struct {
	name, url string
	able      func(ctx context.Context, url, model string) bool // reports whether a model can call tools
}

// localServers are at the addresses that they usually listen at.
func localServers() []localServer {
	return []localServer{
		{"Ollama", "http://127.0.0.1:11434", ollamaCallsTools}, {"llama.cpp", "http://127.0.0.1:8080", llamaCppCallsTools},
	}
}

// probeTimeout bounds each question to a server on this machine, and hereTimeout all
// of them together.
const (
	probeTimeout = 2 * time.Second
	hereTimeout  = 6 * time.Second
)

// Find takes the first of: the named model, a key in the environment, a model on
// this machine that can call tools, rehearsal. It fails when the named model, or
// the address that the environment names, is not there.
func Find(ctx context.Context, named string, getenv func(string) string) (Model, error) {
	return find(ctx, named, getenv, localServers())
}

func find(ctx context.Context, named string, getenv func(string) string, here []localServer) (Model, error) {
	if named == llm.Rehearsal {
		return rehearsalModel("as was asked"), nil
	}
	if err := checkAddresses(getenv); err != nil {
		return Model{}, err
	}
	for _, v := range []struct{ provider, model, family string }{
		{llm.Anthropic, anthropicModel, "claude"}, {llm.Gemini, geminiModel, "gemini"},
	} {
		names := config.Vendors[v.provider]
		if key := getenv(names.Key); key != "" && (named == "" || strings.HasPrefix(named, v.family)) {
			o := vendor.Options{Model: cmp.Or(named, v.model), BaseURL: getenv(names.URL), APIKey: key, KeyName: names.Key}
			return vendorModel(v.provider, "by "+names.Key, o), nil
		}
	}
	names := config.Vendors[llm.OpenAI]
	key, base := getenv(names.Key), getenv(names.URL)
	if key != "" || base != "" {
		return openaiByEnvironment(ctx, named, key, base)
	}
	if m, ok := modelHere(ctx, named, here); ok {
		return m, nil
	}
	if named != "" {
		return Model{}, fmt.Errorf("there is no way to reach the model %q: set ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL, or start Ollama or llama.cpp with it; --model rehearsal needs none of them", named)
	}
	return rehearsalModel("because no key is set and no Ollama or llama.cpp answers on this machine"), nil
}

// checkAddresses rejects an address of the environment that would get people's
// questions and a key in plain text on another machine, as the configuration's are.
func checkAddresses(getenv func(string) string) error {
	for _, provider := range slices.Sorted(maps.Keys(config.Vendors)) {
		name := config.Vendors[provider].URL
		if base := getenv(name); base != "" {
			if instead := config.InsteadOfHTTP(base); instead != "" {
				return fmt.Errorf("%s %s", name, instead)
			}
		}
	}
	return nil
}

func rehearsalModel(why string) Model {
	return Model{llm.Rehearsal, llm.Options{Provider: llm.Rehearsal}, "rehearsal, a small deterministic planner and not an AI model, " + why}
}

// unknownBudget is the tokens of one request to a model of unknown size: enough for
// the tools of four servers and some rows.
const unknownBudget = 32_000

func vendorModel(provider, why string, o vendor.Options) Model {
	m := Model{o.Model, llm.Options{Provider: provider, Vendor: o}, o.Model + ", " + why}
	if o.BaseURL != "" && provider == llm.OpenAI {
		m.Options.Budget = unknownBudget
	}
	return m
}

// openaiByEnvironment asks another address than OpenAI's own for its first model
// when none is named.
func openaiByEnvironment(ctx context.Context, named, key, base string) (Model, error) {
	o := vendor.Options{Model: named, BaseURL: base, APIKey: key, KeyName: config.Vendors[llm.OpenAI].Key}
	why := "by " + o.KeyName
	if base != "" {
		why = "at " + config.Vendors[llm.OpenAI].URL
	}
	switch {
	case named != "":
	case base == "":
		o.Model = openaiModel
	default:
		names := modelsAt(ctx, base, key)
		if len(names) == 0 {
			return Model{}, fmt.Errorf("OPENAI_BASE_URL is set, and %s lists no model: start it, or name a model with --model", base)
		}
		o.Model = names[0]
	}
	return vendorModel(llm.OpenAI, why, o), nil
}

// modelHere finds a model on this machine: one that can call tools, or the named
// one, which then calls them in its text.
func modelHere(ctx context.Context, named string, here []localServer) (Model, bool) {
	ctx, cancel := context.WithTimeout(ctx, hereTimeout)
	defer cancel()
	for _, server := range here {
		for _, model := range modelsAt(ctx, server.url+"/v1", "") {
			if named != "" && named != model {
				continue
			}
			m := vendorModel(llm.OpenAI, "of "+server.name+" on this machine", vendor.Options{Model: model, BaseURL: server.url + "/v1"})
			switch {
			case server.able(ctx, server.url, model):
				return m, true
			case named != "":
				m.Options.Tools, m.Said = llm.ToolsBlob, m.Said+", which calls tools in its text"
				return m, true
			}
		}
	}
	return Model{}, false
}

// modelsAt lists the models of an address that speaks OpenAI's protocol; none
// when it does not answer.
func modelsAt(ctx context.Context, base, key string) (names []string) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if !fetchJSON(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+"/models", key, nil, &list) {
		return nil
	}
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names
}

// ollamaCallsTools asks Ollama what a model can do (docs of its API: "Show model
// information").
func ollamaCallsTools(ctx context.Context, url, model string) bool {
	var shown struct {
		Capabilities []string `json:"capabilities"`
	}
	body, _ := json.Marshal(map[string]string{"model": model}) // a text encodes
	return fetchJSON(ctx, http.MethodPost, url+"/api/show", "", body, &shown) && slices.Contains(shown.Capabilities, "tools")
}

// llamaCppCallsTools reads the template of the only model: one that never
// mentions tools drops them.
func llamaCppCallsTools(ctx context.Context, url, _ string) bool {
	var props struct {
		Template string `json:"chat_template"`
	}
	return fetchJSON(ctx, http.MethodGet, url+"/props", "", nil, &props) && strings.Contains(props.Template, "tool")
}

// probe follows no redirect, which could carry a key to another place.
var probe = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// fetchJSON asks for a JSON document and reports whether it came.
func fetchJSON(ctx context.Context, method, url, key string, body []byte, out any) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return false
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := probe.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	return err == nil && resp.StatusCode == http.StatusOK && json.Unmarshal(raw, out) == nil
}
