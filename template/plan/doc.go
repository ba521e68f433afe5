// Package plan compiles a checked workflow into a Plan: dense rows in template order, the edges between them, ranks, slot
// groups and operations. A Plan is immutable, made once per definition without any I/O, and shared by all runs of it.
//
//	steps:                    row 0  step  a      edges  a ──▶ c, b ──▶ c
//	  - parallel: [a, b]      row 1  step  b             c ──▶ m
//	  - c                     row 2  step  c
//	  - map m: [x, y]         row 3  map   m      body   rows [4, 6): x ──▶ y, made anew for every item
//	                          row 4  step  x
//	                          row 5  step  y
//
// Containers are transparent: a sequence leads from the tails of one element to the heads of the next, a parallel shares its
// predecessors and joins its tails. Conditionals become gates, maps become placeholders whose body is a range of rows. If a
// sequence would need tails × heads edges and a join is cheaper, it gets a join row, so that two parallels of 5,000 cost
// 10,000 edges and not 25 million.
//
// Compiling costs O(steps + edges·log edges). Rows are private to a process: journals name nodes by their keys.
package plan
