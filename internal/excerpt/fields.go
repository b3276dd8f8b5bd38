package excerpt

import (
	"slices"
	"strings"
)

// RowID is the member with the id of a row.
const RowID = "row_id"

// Options say which part of a document is taken. The zero value takes all of it.
type Options struct {
	Fields    []string // members to keep, as "verdict" or "kernels.name"; none for all
	Find      string   // only rows that have this in one of their texts, whatever its case
	Skip, Top int      // rows of each list to leave out, and to keep then; 0 for no limit
	MaxBytes  int      // 0 for no limit

	// Keys returns the members that identify a row of a list, or nil if all of its content does. texts returns the
	// texts in a list of the document.
	Keys func(path string, texts func(member string) []string) []string
	// First are the members of which most stays when there is no room for all.
	First []string
	// Whole are the members whose texts are sentences, which are shortened later than the names in others.
	Whole []string
	// More words the call that gets rows of a list that were left out. With rows false, the list is in a row
	// or has no rows, and only more bytes help.
	More func(path string, shown int, rows bool) string
}

// Given reports whether a part is asked for.
func (o Options) Given() bool {
	return len(o.Fields) > 0 || o.Find != "" || o.Skip > 0 || o.Top > 0 || o.MaxBytes > 0
}

// A choice is a tree of the names of members to keep. An empty one keeps all.
type choice map[string]choice

func choose(fields []string) choice {
	if len(fields) == 0 {
		return nil
	}
	root := choice{"schema": nil, RowID: nil}
	for _, f := range fields {
		at, names := root, strings.Split(f, ".")
		for i, name := range names {
			below, known := at[name]
			switch {
			case known && below == nil: // all of it is kept already
			case i == len(names)-1:
				at[name] = nil
			case !known:
				below = choice{RowID: nil}
				at[name] = below
				at = below
				continue
			}
			if below == nil {
				break
			}
			at = below
		}
	}
	return root
}

// keep returns the chosen part of a value.
func (c choice) keep(v node) node {
	if c == nil {
		return v
	}
	switch v := v.(type) {
	case *object:
		out := &object{}
		for _, m := range v.members {
			if below, ok := c[m.name]; ok {
				out.members = append(out.members, member{m.name, below.keep(m.value)})
			}
		}
		return out
	case *list:
		out := &list{skipped: v.skipped, total: v.total}
		for _, item := range v.items {
			out.items = append(out.items, c.keep(item))
		}
		return out
	}
	return v
}

// tellApart adds to rows that would look alike the members of their keys in which they differ. whole has the rows with
// all of their members.
func (o Options) tellApart(whole, chosen *object) {
	if o.Keys == nil || len(o.Fields) == 0 {
		return
	}
	all := map[string]*list{}
	eachList(whole, "", func(path string, l *list) *list { all[path] = l; return l })
	eachList(chosen, "", func(path string, l *list) *list {
		if from := all[path]; from != nil && len(from.items) == len(l.items) {
			tellRowsApart(from.items, l.items, o.Keys(path, whole.texts))
		}
		return l
	})
}

func tellRowsApart(whole, rows []node, keys []string) {
	first, differ := map[string]*object{}, map[string]bool{}
	for i, row := range rows {
		look := &object{slices.DeleteFunc(slices.Clone(row.(*object).members), func(m member) bool { return m.name == RowID })}
		of := whole[i].(*object)
		other, seen := first[string(appendTo(nil, look))]
		if !seen {
			first[string(appendTo(nil, look))] = of
			continue
		}
		for _, key := range keys {
			if string(appendTo(nil, of.get(key))) != string(appendTo(nil, other.get(key))) {
				differ[key] = true
			}
		}
	}
	for i, row := range rows {
		out := row.(*object) // of the choice, so a copy
		for _, key := range keys {
			if v := whole[i].(*object).get(key); differ[key] && v != nil && out.get(key) == nil {
				out.members = append(out.members, member{key, v})
			}
		}
	}
}

// eachList calls f with the path of each list of rows of a document. It replaces the list by what f returns; nil
// removes it.
func eachList(o *object, path string, f func(path string, l *list) *list) {
	o.members = slices.DeleteFunc(o.members, func(m member) bool { return m.value == nil })
	for i := range o.members {
		m := &o.members[i]
		switch v := m.value.(type) {
		case *object:
			eachList(v, path+m.name+".", f)
		case *list:
			if v.isRows() {
				if to := f(path+m.name, v); to != nil {
					m.value = to
				} else {
					m.value = nil
				}
			}
		}
	}
	o.members = slices.DeleteFunc(o.members, func(m member) bool { return m.value == nil })
}

// rows gives every row its id, and takes those that are asked for. It works on copies of the lists.
func (o Options) rows(doc *object) {
	find := strings.ToLower(o.Find)
	eachList(doc, "", func(path string, l *list) *list {
		out := &list{items: o.identified(doc, path, l.items), total: l.total}
		if find != "" {
			out.items = slices.DeleteFunc(out.items, func(row node) bool { return !has(row, find) })
			out.total = len(out.items)
		}
		out.skipped = min(o.Skip, len(out.items))
		out.items = out.items[out.skipped:]
		if o.Top > 0 {
			out.items = out.items[:min(o.Top, len(out.items))]
		}
		if find != "" && out.total == 0 {
			return nil
		}
		return out
	})
	if find != "" {
		doc.members = slices.DeleteFunc(doc.members, func(m member) bool { return m.name != "schema" && !o.named(m.name) && !listed(m.value) })
	}
}

// named reports whether a member, or one in it, is among the fields.
func (o Options) named(name string) bool {
	return slices.ContainsFunc(o.Fields, func(f string) bool { return f == name || strings.HasPrefix(f, name+".") })
}

// listed reports whether a value is or has a list of rows.
func listed(v node) bool {
	switch v := v.(type) {
	case *list:
		return v.isRows()
	case *object:
		return hasRows(v)
	}
	return false
}

// has reports whether one of the texts in a value contains a text in lower case.
func has(v node, find string) bool {
	switch v := v.(type) {
	case scalar:
		return v[0] == '"' && strings.Contains(strings.ToLower(string(v)), find)
	case *list:
		return slices.ContainsFunc(v.items, func(item node) bool { return has(item, find) })
	case *object:
		return slices.ContainsFunc(v.members, func(m member) bool { return has(m.value, find) })
	}
	return false
}

// clone copies the objects that contain no rows but lists of rows, so that a document can be used again.
func clone(o *object) *object {
	out := &object{slices.Clone(o.members)}
	for i := range out.members {
		if below, ok := out.members[i].value.(*object); ok {
			out.members[i].value = clone(below)
		}
	}
	return out
}
