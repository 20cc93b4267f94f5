package fbc

import "io/fs"

// WalkFS reads a catalog directory as ReadFS does. It passes each file's documents to visit as soon as it has
// read them, so that a large catalog is never held as a whole. For an unreadable file it passes the error; visit
// decides whether to go on.
func WalkFS(fsys fs.FS, root string, visit func(docs []Doc, err error) error) error {
	return walkFiles(fsys, root, func(file string) error { return visit(readFile(fsys, file)) })
}

// Files returns the paths of the files that WalkFS reads, in its order.
func Files(fsys fs.FS, root string) (files []string, err error) {
	err = walkFiles(fsys, root, func(file string) error {
		files = append(files, file)
		return nil
	})
	return files, err
}

func walkFiles(fsys fs.FS, root string, visit func(file string) error) error {
	ignored, err := readIgnores(fsys, root)
	if err != nil {
		return err
	}
	return fs.WalkDir(fsys, root, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return unreadable(file, err)
		case e.IsDir() || e.Name() == ignoreFile || ignored.match(within(root, file)):
			return nil
		}
		return visit(file)
	})
}
