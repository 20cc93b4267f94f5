// Package canonical handles YAML in opm's exact bytes: sorted keys, lists at the indent of their key, each text
// in the one form that its characters require, long lines folded at 80 columns. It writes such YAML, and checks
// whether parts of a text are written like that. It leaves everything that is rare in catalogs to the library
// that opm uses.
package canonical
