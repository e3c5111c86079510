package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/safety"
)

// Limits bound what one request may bring.
type Limits struct {
	File    int64 // bytes of one file
	Total   int64 // bytes of all files of an artifact
	Files   int   // files of an artifact
	Ratio   int   // bytes of all files by bytes of the archive, for artifacts over 1 MiB
	JSON    int64 // bytes of a JSON body
	Diff    int   // bytes of a content diff that are kept
	Rate    int   // requests a second of one key
	Burst   int   // requests of one key at once
	Foreign int   // requests a second without a key that is known, of one address
}

// DefaultLimits are generous for skills and small enough for a small machine.
func DefaultLimits() Limits {
	return Limits{File: 16 << 20, Total: 32 << 20, Files: 2000, Ratio: 100, JSON: 4 << 20, Diff: 1 << 20, Rate: 2000, Burst: 4000, Foreign: 50}
}

// Timeouts bound how long a client may take.
type Timeouts struct {
	Header, Read, Write, Idle time.Duration
}

// DefaultTimeouts allow slow networks and end what trickles.
func DefaultTimeouts() Timeouts {
	return Timeouts{Header: 10 * time.Second, Read: 2 * time.Minute, Write: 5 * time.Minute, Idle: 90 * time.Second}
}

// Options say how a server behaves. Zero values mean the defaults.
type Options struct {
	IndexDir       string // directory of the search index; "": in memory only
	SpoolDir       string // directory for large uploads on their way; "": the system's for temporary files
	Policy         safety.Policy
	Limits         Limits
	Timeouts       Timeouts
	NeedSignature  bool          // refuse records without a signature
	Closed         bool          // do not serve the discovery index to callers without a key
	Log            *slog.Logger  // nil: nowhere
	Keep           time.Duration // how long staged uploads wait for their record; 0: a day
	CountsInterval time.Duration // how often download counts are stored; 0: a minute
}

// Server answers the API. Make one with New, and Close it before its storage.
type Server struct {
	storage   Storage
	o         Options
	log       *slog.Logger
	view      *view
	search    *index.Collection
	artifacts artifacts
	stripes   [256]sync.Mutex
	large     chan struct{} // places for large uploads that are unpacked
	rates     *rates
	metrics   *metrics
	routes    []route

	lastTime atomic.Int64 // of creation, ns

	arrivingMu sync.Mutex
	arriving   map[string]chan struct{} // places for large uploads on their way, by key

	mended    atomic.Uint32 // how often the index was made anew
	following sync.Mutex
	followed  atomic.Int64 // when the storage was last asked for changes, ns

	tend    chan struct{}
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// New starts a server over a storage. It returns when everything in the storage can be found.
func New(ctx context.Context, storage Storage, o Options) (*Server, error) {
	o = o.withDefaults()
	s := &Server{storage: storage, o: o, log: o.Log, view: newView(), tend: make(chan struct{}, 1), large: make(chan struct{}, 2), arriving: map[string]chan struct{}{}}
	s.rates, s.metrics = newRates(o.Limits), newMetrics()
	s.routes = s.routeTable()
	if err := s.load(ctx); err != nil {
		if s.search != nil {
			err = errors.Join(err, s.search.Close())
		}
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.running.Go(s.keepIndex)
	s.running.Go(func() { s.every(o.CountsInterval, s.storeCounts) })
	s.running.Go(func() { s.every(time.Hour, s.collect) })
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits()
	}
	if o.Timeouts == (Timeouts{}) {
		o.Timeouts = DefaultTimeouts()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Keep == 0 {
		o.Keep = 24 * time.Hour
	}
	if o.CountsInterval == 0 {
		o.CountsInterval = time.Minute
	}
	return o
}

// load reads everything and brings the index up to date.
func (s *Server) load(ctx context.Context) error {
	if err := makeSecret(ctx, s.storage); err != nil {
		return err
	}
	var stale []uint32
	err := s.storage.Changes(ctx, 0, func(d Doc) error {
		label, reindex, err := s.view.apply(d)
		if reindex {
			stale = append(stale, label)
		}
		return s.skipDamaged(d, err)
	})
	if err != nil {
		return fmt.Errorf("read registry: %w", err)
	}
	if n := len(s.view.order); n > 0 {
		s.lastTime.Store(s.view.entries[s.view.order[n-1]].created)
	}
	s.search, err = index.OpenCollection(s.o.IndexDir, func(d index.Doc) (uint32, bool) {
		label, ok := s.view.labels[d.Rel]
		return label, ok && !s.view.entries[label].deleted && s.view.entries[label].sum == d.Sum
	})
	if err != nil {
		return err
	}
	return s.indexAll(ctx, stale)
}

// skipDamaged logs a document that cannot be read and goes on without it: one of them must not keep a
// registry from starting.
func (s *Server) skipDamaged(d Doc, err error) error {
	if err != nil {
		s.log.Error("document cannot be read", "kind", d.Kind, "id", d.ID, "seq", d.Seq, "error", err)
	}
	return nil
}

// indexAll indexes the records of the labels that the index does not have.
func (s *Server) indexAll(ctx context.Context, labels []uint32) error {
	work := make(chan uint32)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for label := range work {
				s.index(ctx, label)
			}
		})
	}
	for _, label := range labels {
		if !s.search.Has(label) && ctx.Err() == nil {
			work <- label
		}
	}
	close(work)
	group.Wait()
	if err := s.search.Tend(); err != nil {
		return err
	}
	return ctx.Err()
}

// mendIndex makes the index anew because of damage that a search found, unless somebody else did since the
// search began.
func (s *Server) mendIndex(ctx context.Context, seen uint32, damage error) error {
	s.following.Lock()
	defer s.following.Unlock()
	if s.mended.Load() != seen {
		return nil
	}
	s.log.Error("search index is damaged and made anew", "error", damage)
	if err := s.search.Reset(); err != nil {
		return err
	}
	s.view.mu.RLock()
	labels := slices.Clone(s.view.order)
	s.view.mu.RUnlock()
	err := s.indexAll(context.WithoutCancel(ctx), labels)
	s.mended.Add(1)
	return err
}

// index takes a record into the index, or out of it.
func (s *Server) index(ctx context.Context, label uint32) {
	s.view.mu.RLock()
	e := s.view.entries[label]
	s.view.mu.RUnlock()
	if e.deleted {
		s.search.Remove(label)
		return
	}
	r, _, err := s.read(ctx, e.id)
	if err == nil && r.DeletedAt == "" {
		var a *artifact
		if a, err = s.artifact(ctx, r.Archive); err == nil {
			err = s.search.Add(label, r.document(e.id, a))
		}
	}
	if err != nil {
		s.log.Error("record cannot be indexed", "record_id", e.id, "error", err)
	}
}

// read returns a record and the number of its state.
func (s *Server) read(ctx context.Context, id string) (*record, uint64, error) {
	d, err := s.storage.Get(ctx, KindRecord, id)
	if err != nil {
		return nil, 0, err
	}
	r, err := decodeRecord(d)
	if err != nil {
		return nil, 0, fmt.Errorf("record %q: %w: %w", id, ErrDamaged, err)
	}
	return r, d.Seq, nil
}

// follow takes in what changed in the storage, by this server or by others.
func (s *Server) follow(ctx context.Context) error {
	s.following.Lock()
	defer s.following.Unlock()
	s.followed.Store(time.Now().UnixNano())
	err := s.storage.Changes(ctx, s.view.last(), func(d Doc) error {
		label, reindex, err := s.view.apply(d)
		if err == nil && reindex {
			s.index(ctx, label)
		}
		return s.skipDamaged(d, err)
	})
	select {
	case s.tend <- struct{}{}:
	default:
	}
	return err
}

func (v *view) last() uint64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.seq
}

// followInterval is how long a change by another program, such as a revoked key, may go unnoticed.
const followInterval = 200 * time.Millisecond

// followSometimes is follow unless it was a moment ago.
func (s *Server) followSometimes(ctx context.Context) {
	if time.Since(time.Unix(0, s.followed.Load())) < followInterval {
		return
	}
	if err := s.follow(ctx); err != nil && ctx.Err() == nil {
		s.log.Error("storage cannot be read", "error", err)
	}
}

// put stores a record's state and returns when it can be found.
func (s *Server) put(ctx context.Context, id string, r *record, prev uint64) (uint64, error) {
	d, err := r.doc(id)
	if err != nil {
		return 0, err
	}
	// The client may go away; what was begun is ended.
	ctx = context.WithoutCancel(ctx)
	seq, err := s.storage.Put(ctx, d, prev)
	if err != nil {
		return 0, err
	}
	return seq, s.follow(ctx)
}

// keepIndex merges segments of the index in the background.
func (s *Server) keepIndex() {
	for {
		select {
		case <-s.tend:
			if err := s.search.Tend(); err != nil {
				s.log.Error("search index", "error", err)
			}
		case <-s.ctx.Done():
			return
		}
	}
}

func (s *Server) every(d time.Duration, f func(context.Context) error) {
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if err := f(s.ctx); err != nil && s.ctx.Err() == nil {
				s.log.Error("upkeep", "error", err)
			}
		case <-s.ctx.Done():
			return
		}
	}
}

// collect removes staged uploads that nobody published.
func (s *Server) collect(ctx context.Context) error {
	got, err := s.storage.Collect(ctx, time.Now().Add(-s.o.Keep))
	if got.Blobs > 0 {
		s.log.Info("collected", "blobs", got.Blobs, "bytes", got.Bytes)
	}
	return err
}

// HTTP returns a server of the standard library with the handler and the timeouts.
func (s *Server) HTTP() *http.Server {
	t := s.o.Timeouts
	return &http.Server{Handler: s, ReadHeaderTimeout: t.Header, ReadTimeout: t.Read, WriteTimeout: t.Write, IdleTimeout: t.Idle,
		MaxHeaderBytes: 32 << 10, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
}

// Close stores what is in memory only and ends the upkeep. Requests must have ended.
func (s *Server) Close() error {
	s.cancel()
	s.running.Wait()
	return errors.Join(s.storeCounts(context.Background()), s.search.Flush(), s.search.Close())
}
