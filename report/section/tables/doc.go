// Package tables has the sections on tables that other tools printed: nsys stats, torch.profiler,
// cProfile and others.
//
// It takes the tables of a summary as package view orders them ([view.ToolTable]) and returns sections
// with one table each. tables.go has the sections of the report, screen.go the short form for a
// terminal, and functions.go what only tables of functions have. Units are chosen per column, because
// these tools mix nanoseconds and minutes in one table.
//
// The reader of a table is in nsys/stats or torchprof, the measurement in analyze/profile, and the
// findings in judge/tables.
package tables
