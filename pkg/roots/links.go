package roots

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// followLinks takes the links that were met, in path order, and those that are met on the way.
func (w *walker) followLinks(ctx context.Context) error {
	if len(w.links) == 0 {
		return nil
	}
	plain := w.folders
	w.folders, w.byFile = nil, make(map[fileID][]int, len(plain))
	for _, f := range plain {
		w.keep(f)
	}
	for len(w.links) > 0 {
		links := w.links
		w.links = nil
		slices.Sort(links)
		for _, rel := range links {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.follow(ctx, rel); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) follow(ctx context.Context, rel string) error {
	w.explained = append(w.explained, rel)
	if w.looked >= w.limit {
		w.cut([]string{rel})
		return nil
	}
	var st unix.Stat_t
	switch err := statAt(w.fd, rel, &st); {
	case err == unix.ENOENT || err == unix.ELOOP:
		w.dirs = append(w.dirs, Dir{rel, Stamp{}})
		w.explain(rel, CodeLinkDangling, "the link leads nowhere", "mend or remove the link")
		return nil
	case err != nil:
		w.unreadable(rel, err, &w.part)
		return nil
	case !isDir(&st) || w.entered[idOf(&st)]:
		return nil
	}
	if f, err := w.skillFile(rel, &part{}); err == nil {
		w.looked++
		w.add(f)
		return nil
	}
	if target, ok := w.inside(rel); !ok {
		w.dirs = append(w.dirs, Dir{rel, stampOf(&st)})
		w.explain(rel, CodeLinkOutside, "the link leaves the root and its target is not a skill folder, so it was not followed",
			"link to the skill folders themselves, or add the target to the skill roots")
		return nil
	} else if skipped(filepath.Base(target)) {
		return nil
	}
	before := len(w.folders)
	if err := w.descend(ctx, rel); err != nil {
		return err
	}
	w.dedupe(before)
	return nil
}

// inside tells where a link leads, and whether that is the root or below it.
func (w *walker) inside(rel string) (string, bool) {
	root, err := filepath.EvalSymlinks(w.root.Dir)
	if err != nil {
		return "", false
	}
	target, err := filepath.EvalSymlinks(w.abs(rel))
	if err != nil {
		return "", false
	}
	return target, target == root || strings.HasPrefix(target, strings.TrimSuffix(root, "/")+"/")
}

// dedupe takes the folders from place n on, which a walk through a link has found, once more and in path order.
func (w *walker) dedupe(n int) {
	fresh := slices.Clone(w.folders[n:])
	w.folders = w.folders[:n]
	slices.SortFunc(fresh, func(a, b found) int { return strings.Compare(a.Rel, b.Rel) })
	for _, f := range fresh {
		w.add(f)
	}
}

// add keeps a skill folder unless the same real folder is there already. Equal skill files are the cheap sign
// (they are known); only then are the folders themselves compared, because two folders may share a linked file.
func (w *walker) add(f found) {
	var here, there unix.Stat_t
	for _, i := range w.byFile[f.file] {
		if statAt(w.fd, f.Rel, &here) == nil && statAt(w.fd, w.folders[i].Rel, &there) == nil && idOf(&here) == idOf(&there) {
			return
		}
	}
	w.keep(f)
}

func (w *walker) keep(f found) {
	w.byFile[f.file] = append(w.byFile[f.file], len(w.folders))
	w.folders = append(w.folders, f)
}
