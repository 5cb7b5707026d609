package term

// followSize tells the terminal its size. Changes are seen with the next line.
func (l *terminalLines) followSize() (stop func()) {
	l.resize()
	return func() {}
}
