package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/api"
)

// Records calls f for every record of a storage, private ones too, oldest first. Nothing is asked of the
// caller: it is for whoever has the storage.
func Records(ctx context.Context, s Storage, f func(api.Record) error) error {
	v := newView()
	err := s.Changes(ctx, 0, func(d Doc) error {
		_, _, err := v.apply(d)
		return err
	})
	if err != nil {
		return err
	}
	for _, label := range slices.Clone(v.order) {
		r, err := Record(ctx, s, v.entries[label].id)
		if err != nil {
			return err
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

// Record returns a record of a storage, ErrNotFound when there is none or it was deleted.
func Record(ctx context.Context, s Storage, id string) (api.Record, error) {
	d, err := s.Get(ctx, KindRecord, id)
	if err != nil {
		return api.Record{}, err
	}
	r, err := decodeRecord(d)
	if err != nil {
		return api.Record{}, fmt.Errorf("record %q: %w: %w", id, ErrDamaged, err)
	}
	if r.DeletedAt != "" {
		return api.Record{}, fmt.Errorf("record %q: %w", id, ErrNotFound)
	}
	out := r.public(strings.Clone(id), 0)
	if d, err := s.Get(ctx, KindCount, id); err == nil {
		out.Downloads = downloadsOf(d)
	}
	return out, nil
}
