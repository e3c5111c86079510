package web

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	waLog "go.mau.fi/whatsmeow/util/log"
	"modernc.org/sqlite"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// The files of a folder.
const (
	keysFile    = "device.db"
	lockFile    = "lock"
	accountFile = "account.json"
	tempPattern = ".file-*"
)

// appID marks databases of ours.
const appID = 0x4f535744

// Results of SQLite that mean something to us.
const (
	resultCorrupt = 11
	resultNoDB    = 26
	maskPrimary   = 0xff
)

// keys are the open keys of a device.
type keys struct {
	dir       string
	lock      *atomicfile.Lock
	db        *sql.DB
	container *sqlstore.Container
}

// openKeys opens the keys in a folder, and makes an empty one of it when there are none.
func openKeys(ctx context.Context, dir string, log waLog.Logger) (_ *keys, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the keys: %w", err)
	}
	k := &keys{dir: dir}
	defer func() {
		if err != nil {
			k.close()
		}
	}()
	if k.lock, err = atomicfile.TryLock(filepath.Join(dir, lockFile)); errors.Is(err, atomicfile.ErrLocked) {
		return nil, wire.Errorf(wire.Locked, "another process uses the keys in %s: %w", dir, err)
	} else if err != nil {
		return nil, fmt.Errorf("lock the keys in %s: %w", dir, err)
	}
	k.sweep()
	if err := k.connect(ctx); err != nil {
		return nil, k.explain(err)
	}
	k.container = sqlstore.NewWithDB(k.db, "sqlite3", log)
	if err := k.container.Upgrade(ctx); err != nil {
		return nil, k.explain(err)
	}
	return k, nil
}

// sweep removes what a killed process was fetching or sending.
func (k *keys) sweep() {
	left, _ := filepath.Glob(filepath.Join(k.dir, tempPattern))
	for _, name := range left {
		os.Remove(name)
	}
}

func (k *keys) path() string { return filepath.Join(k.dir, keysFile) }

// connect opens the database and makes sure that it is one of ours, and whole.
func (k *keys) connect(ctx context.Context) error {
	f, err := os.OpenFile(k.path(), os.O_RDWR|os.O_CREATE, 0o600) // what SQLite puts beside it gets the same mode
	if err == nil {
		err = errors.Join(f.Chmod(0o600), f.Close())
	}
	if err != nil {
		return err
	}
	pragmas := url.Values{"_txlock": {"immediate"}, "_pragma": {"foreign_keys(1)", "busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "secure_delete(1)"}}
	address := url.URL{Scheme: "file", Path: k.path(), RawQuery: pragmas.Encode()}
	if k.db, err = sql.Open("sqlite", address.String()); err != nil {
		return err
	}
	k.db.SetMaxOpenConns(4)
	var id, tables int
	var health string
	if err := k.db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return err
	}
	if err := k.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return err
	}
	switch {
	case id == appID:
	case tables > 0 || id != 0:
		return wire.Errorf(wire.Invalid, "%s is a database of another program", k.path()).WithHint("set whatsapp.session_dir to a folder of its own")
	default:
		if _, err := k.db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", appID)); err != nil {
			return err
		}
	}
	if err := k.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&health); err != nil {
		return err
	}
	if health != "ok" {
		return k.broken(errors.New(health))
	}
	return nil
}

// explain says what an error of the database means.
func (k *keys) explain(err error) error {
	var e *sqlite.Error
	var ours *wire.Error
	switch {
	case errors.As(err, &ours):
		return err
	case errors.As(err, &e) && (e.Code()&maskPrimary == resultCorrupt || e.Code()&maskPrimary == resultNoDB):
		return k.broken(err)
	}
	return fmt.Errorf("open the keys in %s: %w", k.dir, err)
}

func (k *keys) broken(err error) error {
	return wire.Errorf(wire.Corrupt, "the keys in %s are damaged: %w", k.path(), err).WithHint("remove the device on the phone and the folder here, then link again: %s", linked.HowToLink)
}

// device returns the device that is linked; nil: there is none.
func (k *keys) device(ctx context.Context) (*store.Device, error) {
	all, err := k.container.GetAllDevices(ctx)
	if err != nil {
		return nil, k.explain(err)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all[0], nil
}

// forget removes the devices.
func (k *keys) forget(ctx context.Context) error {
	all, err := k.container.GetAllDevices(ctx)
	for _, d := range all {
		err = errors.Join(err, d.Delete(ctx))
	}
	return errors.Join(err, forgetAccount(k.dir))
}

// settle moves what is in the log of the database into it, and empties the log: texts that were in it are gone then.
func (k *keys) settle(ctx context.Context) error {
	_, err := k.db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// settleTime bounds the last settling.
const settleTime = 5 * time.Second

func (k *keys) close() error {
	var err error
	if k.db != nil {
		if k.container != nil {
			ctx, cancel := context.WithTimeout(context.Background(), settleTime)
			err = k.settle(ctx)
			cancel()
		}
		err = errors.Join(err, k.db.Close())
	}
	if k.lock != nil {
		err = errors.Join(err, k.lock.Unlock())
	}
	return err
}

// selfOf is whose device it is.
func selfOf(d *store.Device) linked.Self {
	self := linked.Self{ID: d.GetJID().ToNonAD().String()}
	if lid := d.GetLID(); !lid.IsEmpty() {
		self.LID = lid.ToNonAD().String()
	}
	return self
}

// account reads whose account it is, which is known without the keys, as another process may use them.
func account(dir string) (self linked.Self, ok bool, err error) {
	data, err := os.ReadFile(filepath.Join(dir, accountFile))
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, keysFile))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return self, false, nil
	}
	if err != nil {
		return self, false, fmt.Errorf("read whose phone is linked: %w", err)
	}
	if err := json.Unmarshal(data, &self); err != nil || !strings.Contains(self.ID, "@") {
		return self, false, wire.Errorf(wire.Corrupt, "read whose phone is linked: %s is damaged", filepath.Join(dir, accountFile)).WithHint("remove the file, then: %s", linked.HowToLink)
	}
	return self, true, nil
}

func keepAccount(dir string, self linked.Self) error {
	data, err := json.Marshal(self)
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, accountFile), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep whose phone is linked: %w", err)
	}
	return nil
}

func forgetAccount(dir string) error {
	if err := os.Remove(filepath.Join(dir, accountFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget whose phone was linked: %w", err)
	}
	return nil
}
