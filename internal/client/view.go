package client

import (
	"context"
	"fmt"
	"strings"

	"countersign.dev/internal/client/draw"
	"countersign.dev/internal/result"
)

// draw prints rows as a table that fits.
func (v *view) draw(ctx context.Context, tool string, rows []result.Row) error {
	if v.json {
		return nil
	}
	var b strings.Builder
	if err := draw.Table(&b, rows, v.fieldsOf(ctx, tool).Output, v.screen.width()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(v.screen, "\n%s", b.String())
	return err
}

// fieldsOf returns what a tool declares about its fields; nothing when the tools
// cannot be listed, because rows and cards are readable without it.
func (v *view) fieldsOf(ctx context.Context, tool string) result.Fields {
	if known, ok := v.fields[tool]; ok {
		return known
	}
	list, err := v.gateway.tools(ctx)
	if err != nil {
		return result.Fields{}
	}
	for _, info := range list.Tools {
		if info.Fields != nil {
			v.fields[info.Name] = *info.Fields
		}
	}
	if _, ok := v.fields[tool]; !ok {
		v.fields[tool] = result.Fields{}
	}
	return v.fields[tool]
}

// table is the rows of one call.
type table struct {
	tool string
	rows []result.Row
}

// namedBy are the tables that belong to an answer, all of those of a tool of which it
// names a row, and how many rows the others have. Where an answer says that there are
// none, or how many, rows below it would contradict it.
func namedBy(text string, read []table) (named []table, unnamed int) {
	for _, one := range read {
		if draw.Names(text, rowsOf(one.tool, read)) {
			named = append(named, one)
		} else {
			unnamed += len(one.rows)
		}
	}
	return named, unnamed
}

// rowsOf are the rows of all calls of a tool.
func rowsOf(tool string, tables []table) (rows []result.Row) {
	for _, one := range tables {
		if one.tool == tool {
			rows = append(rows, one.rows...)
		}
	}
	return rows
}

// drawAll prints the tables of an answer, or nothing.
func (v *view) drawAll(ctx context.Context, tables []table) error {
	if len(tables) > 0 && !v.json { // of which the answer may have kept a part
		v.screen.line("\nThe rows that were read for this answer:")
	}
	for _, one := range tables {
		if err := v.draw(ctx, one.tool, one.rows); err != nil {
			return err
		}
	}
	return nil
}
