// Package install determines which providers a configuration needs, finds and verifies their packages, and
// keeps them in the data directory.
//
// Start reading at Requirements (the providers needed), Source (where packages may be), and Installer: Ensure
// changes the disk, for the init command, and Selected only verifies, for all other commands. The layout is
// the ecosystem's: DATADIR/providers/HOST/NAMESPACE/TYPE/VERSION/OS_ARCH is the package, or a link to it.
//
// It may import addr, diag, config, state and its own sub-packages. It must not know how providers are run,
// nor plans or evaluation.
package install
