package fbc

import "io/fs"

// WalkFS reads a catalog directory as ReadFS does and gives each file's documents as
// soon as they are read, so that a large catalog need not be held at once. A file that
// cannot be read is given with its error; visit decides whether to go on.
func WalkFS(fsys fs.FS, root string, visit func(docs []Doc, err error) error) error {
	return walkFiles(fsys, root, func(file string) error { return visit(readFile(fsys, file)) })
}

// Files are the paths of the files that WalkFS reads, in its order.
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
