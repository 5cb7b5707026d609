//go:build !mayfly_no_postgres

package postgres_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func targetsOf(t *testing.T, texts ...string) (out []addr.Target) {
	t.Helper()
	for _, text := range texts {
		x, err := addr.ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

func instances(st *state.State) (out []string) {
	for a := range st.AllInstances() {
		out = append(out, a.String())
	}
	return out
}

// TestReadPart reads the objects that a part names, and no others.
func TestReadPart(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	f := storetest.File(t, "l", 1, 0)
	all := []string{
		"t.a[0]", "t.a[1]", "t.b", `module.m["x"].t.a`, `module.m["x"].t.b["k"]`, `module.m["y"].t.a`, `module.m["y"].t.b["k"]`,
		"module.n.t.c", "module.n[0].t.c", "module.n2.t.c", `module.n.module.o["x"].t.a`, `module.n.module.o["y"].t.a`,
	}
	for _, text := range all {
		a, err := addr.ParseInstance(text)
		if err != nil {
			t.Fatal(err)
		}
		o := storetest.Object(t, "old")
		if text == "t.b" {
			o = o.Clone()
			o.Dependencies = []addr.ConfigResource{{Resource: addr.Resource{Type: "t", Name: "a"}}}
		}
		f.State.SetObject(addr.Object{Instance: a}, o, storetest.Provider)
	}
	if err := manager(t, open(t, opt)).Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		targets  []string
		subjects []state.Subject
		want     []string
	}{
		{targets: []string{"t.a[1]"}, want: []string{"t.a[1]"}},
		{targets: []string{"t.a"}, want: []string{"t.a[0]", "t.a[1]"}},
		{targets: []string{`module.m["x"]`}, want: []string{`module.m["x"].t.a`, `module.m["x"].t.b["k"]`}},
		{targets: []string{"module.m.t.a"}, want: []string{`module.m["x"].t.a`, `module.m["y"].t.a`}},
		{targets: []string{`module.m.t.b["k"]`}, want: []string{`module.m["x"].t.b["k"]`, `module.m["y"].t.b["k"]`}},
		{targets: []string{`module.m.t.b["l"]`}},
		{targets: []string{"module.n.t.c"}, want: []string{"module.n.t.c", "module.n[0].t.c"}},
		{targets: []string{`module.n.module.o["x"]`}, want: []string{`module.n.module.o["x"].t.a`}},
		{targets: []string{"module.n"}, want: []string{"module.n.t.c", `module.n.module.o["x"].t.a`, `module.n.module.o["y"].t.a`, "module.n[0].t.c"}},
		{subjects: []state.Subject{{Kind: state.Dependents, Addr: "t.a"}}, want: []string{"t.b"}},
		{subjects: []state.Subject{{Kind: state.AllWithin, Addr: "module.m.t.a", Within: `module.m["y"]`}}, want: []string{`module.m["y"].t.a`}},
		{subjects: []state.Subject{{Kind: state.AllWithin, Addr: "module.m.t.a"}}, want: []string{`module.m["x"].t.a`, `module.m["y"].t.a`}},
		{subjects: []state.Subject{{Kind: state.AllInstances, Addr: "t.a"}, {Kind: state.OneInstance, Addr: "t.b"}}, want: []string{"t.a[0]", "t.a[1]", "t.b"}},
		{subjects: []state.Subject{{Kind: state.WholeState}}, want: all},
	} {
		m := manager(t, open(t, opt)).(store.PartReader)
		got, err := m.ReadPart(t.Context(), state.Part{Subjects: row.subjects, Targets: targetsOf(t, row.targets...)})
		if err != nil {
			t.Fatal(err)
		}
		found := instances(got.State)
		slices.Sort(found)
		slices.Sort(row.want)
		if !slices.Equal(found, row.want) {
			t.Errorf("reading %v %v: got %v, want %v", row.targets, row.subjects, found, row.want)
		}
	}
	if _, err := manager(t, open(t, opt)).(store.PartReader).ReadPart(t.Context(), state.Part{Subjects: []state.Subject{{Kind: state.OneOutput, Addr: "o"}}}); err == nil {
		t.Error("reading an output as a part: got no error, want one")
	}
}

// TestReadMore adds objects to a part. An apply of the part leaves the others as they are.
func TestReadMore(t *testing.T) {
	opt := stock(t, 5)
	m := manager(t, open(t, opt))
	base, err := m.(store.PartReader).ReadPart(t.Context(), state.Part{Targets: targetsOf(t, storetest.Address("a", 0).Instance.String())})
	if err != nil {
		t.Fatal(err)
	}
	subjects := []state.Subject{state.InstanceSubject(storetest.Address("a", 1).Instance), state.InstanceSubject(storetest.Address("a", 2).Instance)}
	more, err := m.(store.PartReader).ReadMore(t.Context(), state.Part{Subjects: subjects}, func(a addr.Instance) bool { return a == storetest.Address("a", 1).Instance })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := instances(more), []string{storetest.Address("a", 1).Instance.String()}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	base.State.AddMissing(more)
	r := &run{Manager: m, t: t, who: "one", base: base, scope: scopeOf(base, []int{0, 1})}
	other := planned(t, opt, "two", []int{3})
	other.begin()
	r.begin()
	for _, err := range []error{other.update(3), r.update(0), r.update(1)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	other.end()
	if got, want := len(instances(r.end().State)), 2; got != want {
		t.Errorf("instances of the state that the run leaves: got %d, want %d", got, want)
	}
	want := []string{"one", "one", "old", "two", "old"}
	for i, text := range texts(t, opt, 5) {
		if want := string(storetest.Object(t, want[i]).JSON()); text != want {
			t.Errorf("a[%d]: got %s, want %s", i, text, want)
		}
	}
}

// targeted returns a run that has read the object a[i] alone and wants to update it.
func targeted(t *testing.T, opt postgres.Options, who string, i int) *run {
	t.Helper()
	m := manager(t, open(t, opt))
	base, err := m.(store.PartReader).ReadPart(t.Context(), state.Part{Targets: targetsOf(t, storetest.Address("a", i).Instance.String())})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := instances(base.State), []string{storetest.Address("a", i).Instance.String()}; !slices.Equal(got, want) {
		t.Errorf("objects that %s has read: got %v, want %v", who, got, want)
	}
	return &run{Manager: m, t: t, who: who, base: base, scope: scopeOf(base, []int{i})}
}

// TestPartsSideBySide has two runs change one object each that they have read alone: through a pooler, and
// with encrypted objects.
func TestPartsSideBySide(t *testing.T) {
	s := server.Start(t)
	for _, row := range []struct {
		name   string
		url    func(*testing.T) string
		cipher store.Cipher
	}{
		{"plain", func(*testing.T) string { return s.URL(0) }, nil},
		{"encrypted", func(*testing.T) string { return s.URL(0) }, reversing{}},
		{"pooled", func(t *testing.T) string { return s.URL(s.Pool(t, "session")) }, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			opt := postgres.Options{ConnString: row.url(t), Schema: row.name, Cipher: row.cipher}
			fill(t, opt, 4)
			one, two := targeted(t, opt, "one", 0), targeted(t, opt, "two", 2)
			one.begin()
			two.begin()
			for i, r := range map[int]*run{0: one, 2: two} {
				if err := r.update(i); err != nil {
					t.Fatal(err)
				}
			}
			two.end()
			one.end()
			for i, who := range []string{"one", "old", "two", "old"} {
				if got, want := texts(t, opt, 4)[i], string(storetest.Object(t, who).JSON()); got != want {
					t.Errorf("a[%d]: got %s, want %s", i, got, want)
				}
			}
		})
	}
}

// TestLeasesOfParts has two runs on parts with different leases. That of one lapses: the other goes on, and a
// third one gets what the first had claimed.
func TestLeasesOfParts(t *testing.T) {
	opt := stock(t, 3)
	opt.Lease = 10 * time.Minute
	short := opt
	short.Lease = time.Minute
	one, two := targeted(t, opt, "one", 0), targeted(t, short, "two", 1)
	one.begin()
	two.begin()
	db := connect(t, opt.ConnString)
	var lapsed []string
	rows, err := db.QueryContext(t.Context(), `UPDATE mayfly.runs SET lease_until = lease_until - interval '2 minutes' WHERE state = 'claimed' RETURNING CASE WHEN lease_until < clock_timestamp() THEN info->>'ID' END`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id sql.NullString
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		if id.Valid {
			lapsed = append(lapsed, id.String)
		}
	}
	if want := []string{"id-two"}; !slices.Equal(lapsed, want) {
		t.Fatalf("runs that have lapsed after two minutes: got %v, want %v", lapsed, want)
	}
	if err := targeted(t, opt, "three", 1).claim(0); err != nil {
		t.Errorf("claiming what a lapsed run had claimed: got %v, want no error", err)
	}
	if err := two.update(1); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("update of a run that has lapsed: got %v, want %v", err, store.ErrLockLost)
	}
	if err := targeted(t, opt, "four", 0).claim(0); err == nil {
		t.Error("claiming what a run with a longer lease has claimed: got no error, want one")
	}
	if err := one.update(0); err != nil {
		t.Fatal(err)
	}
	one.end()
}

// TestCostOfPart counts the bytes of reading ten objects of a state: the same in one that is twice as large.
func TestCostOfPart(t *testing.T) {
	var bytes, trips [2]int64
	for i, n := range []int{2000, 4000} {
		opt, proxy := behind(t, n)
		m := manager(t, open(t, opt))
		var targets []string
		for k := range 10 {
			targets = append(targets, storetest.Address("a", k).Instance.String())
		}
		part := state.Part{Targets: targetsOf(t, targets...)}
		if _, err := m.(store.PartReader).ReadPart(t.Context(), part); err != nil {
			t.Fatal(err)
		}
		before := proxy.Counts()
		f, err := m.(store.PartReader).ReadPart(t.Context(), part)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(instances(f.State)), 10; got != want {
			t.Errorf("objects that were read: got %d, want %d", got, want)
		}
		bytes[i], trips[i] = passed(before, proxy.Counts())
	}
	t.Logf("%d bytes back, %d round trips", bytes[0], trips[0])
	if bytes[0] != bytes[1] || trips[0] != trips[1] {
		t.Errorf("bytes and round trips with twice as many objects: got %d and %d, want %d and %d", bytes[1], trips[1], bytes[0], trips[0])
	}
	if bytes[0] > 10000 {
		t.Errorf("bytes of ten objects: got %d, want at most 10000", bytes[0])
	}
}

// TestRowsOfPart counts the rows that the server looks at for a part: those that belong to it, however many
// others there are.
func TestRowsOfPart(t *testing.T) {
	for _, n := range []int{2000, 4000} {
		opt := postgres.Options{ConnString: server.Start(t).URL(0)}
		f := storetest.File(t, "l", 1, 0)
		put := func(text string, o *state.Object) {
			a, err := addr.ParseInstance(text)
			if err != nil {
				t.Fatal(err)
			}
			f.State.SetObject(addr.Object{Instance: a}, o, storetest.Provider)
		}
		for i := range n {
			put(fmt.Sprintf("module.m[%d].t.a", i), storetest.Object(t, "old"))
			put(fmt.Sprintf("module.n%d.t.a", i), storetest.Object(t, "old"))
		}
		user := storetest.Object(t, "old").Clone()
		user.Dependencies = []addr.ConfigResource{{Resource: addr.Resource{Type: "t", Name: "net"}}}
		put("module.user.t.a", user)
		writer := open(t, opt)
		if err := manager(t, writer).Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		writer.Close()
		db := connect(t, opt.ConnString)
		looked := func() (rows int64) {
			if err := db.QueryRowContext(t.Context(), `SELECT seq_tup_read + COALESCE(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relid = 'mayfly.objects'::regclass`).Scan(&rows); err != nil {
				t.Fatal(err)
			}
			return rows
		}
		alone := func() { // a session counts its rows when it ends
			for others := 1; others > 0; {
				if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`).Scan(&others); err != nil {
					t.Fatal(err)
				}
			}
		}
		for name, part := range map[string]state.Part{
			"a module":                {Targets: targetsOf(t, "module.n7")},
			"an instance of a module": {Targets: targetsOf(t, "module.m[7]")},
			"a block within one":      {Subjects: []state.Subject{{Kind: state.AllWithin, Addr: "module.m.t.a", Within: "module.m[7]"}}},
			"the dependents of one":   {Subjects: []state.Subject{{Kind: state.Dependents, Addr: "t.net"}}},
		} {
			alone()
			before := looked()
			s := open(t, opt)
			got, err := manager(t, s).(store.PartReader).ReadPart(t.Context(), part)
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
			alone()
			if got, want := len(instances(got.State)), 1; got != want {
				t.Errorf("%s: objects that were read: got %d, want %d", name, got, want)
			}
			if got, most := looked()-before, int64(2); got > most {
				t.Errorf("%s: rows that the server looked at, of %d: got %d, want at most %d", name, 2*n, got, most)
			}
		}
	}
}

// passed returns the bytes from the server and the round trips in between.
func passed(before, now tcpproxy.Counts) (bytes, trips int64) {
	return now.Bytes[1] - before.Bytes[1], now.RoundTrips - before.RoundTrips
}
