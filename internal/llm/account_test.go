package llm

import (
	"strings"
	"testing"

	"countersign.dev/internal/fault"
)

// Vendors say that a key is wrong, or an account empty, under different statuses, two
// of which mean something else. Each is said as what it is, and not tried again.
func TestKeysAndAccountsThatAreNotAccepted(t *testing.T) {
	t.Parallel()
	const key, credit = "The model's key is not accepted. Check THE_KEY.", "The account at the model's provider has no credit left. Check its plan and its billing there."
	for name, c := range map[string]struct {
		provider string
		reply    reply
		says     string
	}{
		"Google, a wrong key": {Gemini, reply{status: 400, body: `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT",` +
			`"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com"}}]}}`}, key},
		"OpenAI, no credit":    {OpenAI, reply{status: 429, body: `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`}, credit},
		"Anthropic, no credit": {Anthropic, reply{status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`}, credit},
		"Anthropic, billing":   {Anthropic, reply{status: 402, body: `{"type":"error","error":{"type":"billing_error","message":"There is an issue with your billing."}}`}, credit},
		"in a stream":          {Anthropic, reply{body: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"billing_error\",\"message\":\"Billing.\"}}\n\n", header: map[string]string{"Content-Type": "text/event-stream"}}, credit},
	} {
		m, pauses := replay(t, c.provider, c.reply).model(t, c.provider)
		got := collect(t.Context(), m, question)
		f := fault.From(got.err)
		if f == nil || f.Message+" "+f.SuggestedAction != c.says || len(*pauses) > 0 {
			t.Errorf("%s: got %v after %v", name, got.err, *pauses)
			continue
		}
		if c.reply.status > 0 && !strings.Contains(reasonOf(got.err).Error(), c.reply.body[:40]) {
			t.Errorf("%s: the log has %v", name, reasonOf(got.err))
		}
	}
}
