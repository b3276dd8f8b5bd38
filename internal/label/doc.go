// Package label prepares names for display. The programs under test choose names,
// so a name may hold anything and be of any length.
//
// [Clean] makes a name harmless, [Clip] cuts it to a width, and [Short] shortens a
// list of names such that different names keep different labels.
package label
