package term

// followSize sets the size of the line editor. Later changes take effect with the next line.
func (l *terminalLines) followSize() (stop func()) {
	l.resize()
	return func() {}
}
