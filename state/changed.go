package state

import "iter"

// MostCounted is the number up to which the instances of a state are counted: counting them all would cost as
// much as the state is large.
const MostCounted = 100_000

// Changed has everything that has to be evaluated so that nothing is left to do, apart from the readers of
// objects that are altered then.
type Changed struct {
	// Complete says that a full plan has been applied since hashes are kept, so that every object has a
	// record or a mark. Without it, all must be evaluated, and Due and Blocks are nil.
	Complete bool
	// Moment is the moment at which the hashes were read. Settlement needs it.
	Moment int64
	// Objects is the number of instances in the state, up to MostCounted, if it is Complete.
	Objects int
	// Blocks are the ones with another stored hash, or none, and the ones that the configuration does not
	// have any more. Everything that they declare must be compared with the records of their units.
	Blocks []Block
	// Due are the units that are due, in the order of their keys.
	Due []Due
}

// Due is a unit that is due.
type Due struct {
	Unit Unit
	Why  Reasons
	// Record is the unit's record; nil if it has none, or a void one. A mark by a run which has claimed the
	// results of a check block, as a whole, is a unit without record whose address has no keys.
	Record *Record
}

// Reasons are the reasons why a unit is due.
type Reasons uint8

// The reasons. The provider need not be asked about a unit with no others than ByInput and ByBlock if it
// would be given the same as before.
const (
	ByObject Reasons = 1 << iota // it was changed, or is to be changed, and not found right since
	ByInput                      // something that it was evaluated from has another value
	ByBlock                      // its block has another hash
	ByRow                        // it is tainted, deposed or owes a value, or its conditions have not passed
	Always                       // it is a data source, or looks at the world
)

// Has reports whether all of the given reasons are among them.
func (r Reasons) Has(of Reasons) bool { return r&of == of }

// RecordQuery asks for the records of units, of all units of blocks, and of all units that were evaluated
// from one of the subjects.
type RecordQuery struct {
	Units   []Unit
	Blocks  []Block
	Readers []Subject
}

// Recorder is implemented by runs of stores that keep records of units.
type Recorder interface {
	// Record records all that an apply has found right, at its end. It takes effect when the run ends, and
	// is called at most once. Units that have changed in the meantime stay due.
	Record(s Settlement)
}

// Settlement is everything that an apply has found right, apart from the outcomes of its steps.
type Settlement struct {
	// Found yields the units that were evaluated, had nothing to do, and had conditions that have passed. One
	// that was evaluated from something that has failed, was left out, deferred or not recorded, or from a
	// planned value that was not wholly known, is Open.
	Found iter.Seq[Finding]
	// Relied has the rows of the subjects that units of Found were evaluated from, and of the instances,
	// outputs and checks among them, as the plan read them. Rows that the run has changed since count as
	// they were: they must have the values that were planned.
	Relied map[Subject]RowSet
	// Hashes are made from the configuration. Moment is the moment of Changed.
	Hashes BlockHashes
	Moment int64
	// Covered are the blocks of which nothing was left out or deferred: each of their units has had a step,
	// or is in Found, or has a mark.
	Covered []Block
	// Full says that the plan was a full one. Every object has a record then, or gets a mark.
	Full bool
}

// Finding is a unit that was found right.
type Finding struct {
	Unit  Unit
	Block Block
	Reads []Subject
	Given Hash
	// Gone says that neither the configuration nor the state has the unit. It loses its marks and its record.
	Gone bool
	// Open says that something may be left to do, so that the unit gets a mark if it has no record.
	Open bool
}
