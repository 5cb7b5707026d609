package term

// followSize calls resize now. Later changes of the size take effect with the next line, since this system
// has no signal for them.
func followSize(resize func()) (stop func()) {
	resize()
	return func() {}
}
