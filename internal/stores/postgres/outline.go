//go:build !mayfly_no_postgres

package postgres

// providers adds the provider to the rows of objects, so that the providers of a state are found without the
// objects. A row that no program has written since has what views show, or null if that has nothing either:
// then its object says which provider it is.
const providers = `
ALTER TABLE mayfly.objects ADD COLUMN provider text;
UPDATE mayfly.objects SET provider = shown->>'provider';
CREATE INDEX objects_of_provider ON mayfly.objects (workspace, provider);`
