package support

import (
	"context"
	"strings"

	"countersign.dev/internal/tool"
)

// articleTexts are the untrusted fields of an article; foundTexts are those of a
// search result.
var (
	articleTexts = []string{"title", "content", "summary", "tags"}
	foundTexts   = []string{"title", "content", "summary", "tags", "highlight"}
)

func (s *Server) articleTools() []tool.Tool {
	return []tool.Tool{
		tool.Read(tool.Spec{
			Name: "get_knowledge_article", Title: "Get a knowledge base article", AskOf: "Show article %s", Allow: readers, Synonyms: []string{"guide"}, Untrusted: articleTexts,
			Description: "Show one knowledge base article in full. Needs an article_id such as KB-001; search_knowledge_base finds it.",
		}, s.getArticle),
		tool.List(tool.Spec{
			Name: "search_knowledge_base", Title: "Search the knowledge base", Allow: readers, Synonyms: []string{"article", "kb", "guide", "how-to", "instruction", "manual"}, Untrusted: foundTexts,
			Description: "Search the knowledge base for guides and instructions. " + grammar,
			Lacks: []tool.Lack{{
				Said: `^(\w+ ){0,3}(write|create|add|update|change|rename|edit|modify|correct|delete)\b.*\b(article|guide|how-to)s?\b`,
				Tell: "Articles can be read here, not written or changed",
			}},
			Noun: "articles", Narrow: "more words or a category",
		}, s.searchArticles),
	}
}

type getArticle struct {
	ArticleID string `json:"article_id" jsonschema_description:"The article's id, such as KB-001" suggest:"Use search_knowledge_base tool to find valid article IDs." via:"search_knowledge_base" field:"from=search_knowledge_base:article_id,like=KB-001"`
}

// getArticle finds an article by its id, in capitals or not.
func (s *Server) getArticle(ctx context.Context, in getArticle) (Article, error) {
	scope, _, err := scopeIn(ctx)
	if err != nil {
		return Article{}, err
	}
	a, found, err := s.store.Article(ctx, scope, in.ArticleID)
	if capital := strings.ToUpper(in.ArticleID); !found && err == nil && capital != in.ArticleID {
		a, found, err = s.store.Article(ctx, scope, capital)
	}
	if err == nil && !found {
		err = errArticleNotFound.New("Article not found. Verify the article ID is correct.").Tell("I find no article with that id.")
	}
	return a, err
}

type searchArticles struct {
	Query    string `json:"query" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"Words to search for; * for every article" field:"all=*"`
	Category string `json:"category,omitempty" jsonschema_description:"Filter by category"`
}

func (s *Server) searchArticles(ctx context.Context, in searchArticles, w tool.Window[Key]) ([]Article, error) {
	scope, _, err := scopeIn(ctx)
	if err != nil {
		return nil, err
	}
	rows, q, err := find(ctx, in.Query, w.After, func(q Query) ([]Article, error) {
		return s.store.Articles(ctx, scope, ArticleQuery{Find: q, Category: in.Category, After: w.After, Limit: w.Limit})
	})
	for i := range rows {
		rows[i].Any = q.IsAny()
		rows[i].Highlight = q.highlight(rows[i].Title, rows[i].Summary, rows[i].Content)
	}
	return rows, err
}
