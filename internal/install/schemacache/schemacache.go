// Package schemacache keeps the schemas of installed providers on disk, so that the next command need not
// ask the provider for them.
//
// A file's name depends on the checksum of a package and the switches in its environment, so changed
// content has another name. The cache is only a shortcut. Anything unusual (a missing directory, a file
// that others could have written, a damaged file) is silently ignored, and the provider is asked.
//
// It imports nothing of this module. It must not know the form of schemas.
package schemacache

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// envDir is the environment variable that names the cache's directory. "off" disables the cache.
const envDir = "MAYFLY_SCHEMA_CACHE"

// The bounds of the cache, in bytes.
const (
	maxFile  = 256 << 20
	maxTotal = 1 << 30
)

const (
	magic  = "mayfly provider schema 2\n"
	suffix = ".schema"
	header = len(magic) + 13 // the version of the protocol, the length of the content and its checksum follow the magic
)

// staleAfter is the age at which a temporary file is considered left behind by a killed process.
const staleAfter = time.Hour

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Cache is a directory of schemas. Its methods may be called concurrently, also by several processes.
type Cache struct {
	dir      string
	maxFile  int64
	maxTotal int64
}

// Open returns the cache in the directory that the environment names, or else in the user's cache directory.
// It returns nil, which works as an empty cache, if the cache is disabled or the user has no such directory.
// Nothing is written until something is saved.
func Open(env map[string]string) *Cache {
	dir := env[envDir]
	if dir == "off" {
		return nil
	}
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		dir = filepath.Join(base, "mayfly", "schemas")
	}
	return &Cache{dir: dir, maxFile: maxFile, maxTotal: maxTotal}
}

// For returns the entry for the package with a checksum whose program runs in an environment. It returns
// nil for a package without a checksum, such as a development build.
func (c *Cache) For(checksum string, environ []string) *Entry {
	if c == nil || checksum == "" {
		return nil
	}
	key := append([]string{checksum, runtime.GOOS, runtime.GOARCH}, switches(environ)...)
	sum := sha256.Sum256([]byte(strings.Join(key, "\n")))
	return &Entry{c: c, path: filepath.Join(c.dir, hex.EncodeToString(sum[:])+suffix)}
}

// switches returns the variables with a boolean value in any of the usual forms. Some providers use one to
// enable future schemas, such as ARM_FIVEPOINTZERO_BETA. Variables of the engine don't concern providers,
// and SHLVL, the nesting of shells, is a number.
func switches(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, text, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "TF_") || name == "SHLVL" {
			continue
		}
		switch value := strings.ToLower(text); value {
		case "true", "false", "1", "0", "yes", "no", "on", "off":
			out = append(out, name+"="+value)
		}
	}
	slices.Sort(out)
	return out
}

// Entry is the schema of one package. Its methods may be called concurrently.
type Entry struct {
	c    *Cache
	path string
}

// Load returns the content saved for a version of the protocol, or nil.
func (e *Entry) Load(protocol int) []byte {
	dir, err := os.Stat(e.c.dir)
	if err != nil || !trusted(dir) {
		return nil
	}
	f, err := os.OpenFile(e.path, os.O_RDONLY|plain, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !trusted(info) || info.Size() > e.c.maxFile || info.Size() < int64(header) {
		return nil
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil
	}
	content := b[header:]
	if !bytes.Equal(b[:header], heading(protocol, content)) {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(e.path, now, now) // the oldest files are removed first; if this fails, this one is removed a little earlier
	return content
}

func heading(protocol int, content []byte) []byte {
	b := append(append(make([]byte, 0, header), magic...), byte(protocol))
	b = binary.BigEndian.AppendUint64(b, uint64(len(content)))
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(content, castagnoli))
}

// Save stores content for the next Load, if possible. Readers see all of it or nothing.
func (e *Entry) Save(protocol int, content []byte) {
	if int64(len(content)+header) > e.c.maxFile || os.MkdirAll(e.c.dir, 0o700) != nil {
		return
	}
	if dir, err := os.Stat(e.c.dir); err != nil || !trusted(dir) {
		return
	}
	f, err := os.CreateTemp(e.c.dir, "new-*")
	if err != nil {
		return
	}
	_, err1 := f.Write(heading(protocol, content))
	_, err2 := f.Write(content)
	if err := cmp.Or(err1, err2, f.Close()); err != nil || os.Rename(f.Name(), e.path) != nil {
		_ = os.Remove(f.Name()) // a leftover file is removed by a later call
		return
	}
	e.c.trim()
}

// trim removes leftovers of killed processes, and then the least recently used files until the cache is
// within its bounds.
func (c *Cache) trim() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, entry := range entries {
		info, err := entry.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasSuffix(info.Name(), suffix):
			files = append(files, info)
			total += info.Size()
		case strings.HasPrefix(info.Name(), "new-") && time.Since(info.ModTime()) > staleAfter:
			_ = os.Remove(filepath.Join(c.dir, info.Name()))
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= c.maxTotal {
			return
		}
		if os.Remove(filepath.Join(c.dir, f.Name())) == nil {
			total -= f.Size()
		}
	}
}
