// Package canonical knows YAML in the bytes in which opm writes it: sorted keys, lists
// flush with their key, each text in the one form that its characters call for, long lines
// folded at 80 columns. It writes such text, and tells of parts of one whether they are
// written so. Whatever is rare in catalogs is left to the library that opm uses.
package canonical
