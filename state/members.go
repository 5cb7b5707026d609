package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// part is the role of an object or array in a state file.
type part int

// The parts of a file. Ones whose names end in List or Map only contain other parts.
const (
	otherPart part = iota // below the parts of the format: attributes and the like
	filePart
	resourceList
	resourcePart
	instanceList
	instancePart
	outputMap
	outputPart
)

// partInfo describes the members of an object of a part.
type partInfo struct {
	name     string
	known    []string        // allowed members; nil if they are not checked
	required string          // a member that must be present; "" for none
	parts    map[string]part // of the members that have parts
	element  part            // of an array, or of any member of a map
}

// partInfos describes each part. The names of members are taken from the types that decode them, so that
// there is one list of them.
var partInfos = [...]partInfo{
	otherPart: {},
	filePart: {
		name: "the file", known: memberNames[fileV4](), required: "resources",
		parts: map[string]part{"resources": resourceList, "outputs": outputMap},
	},
	resourceList: {element: resourcePart},
	resourcePart: {
		name: "a resource", known: memberNames[resourceV4](), required: "instances",
		parts: map[string]part{"instances": instanceList},
	},
	instanceList: {element: instancePart},
	instancePart: {name: "an instance", known: memberNames[instanceV4]()},
	outputMap:    {element: outputPart},
	outputPart:   {name: "an output", known: memberNames[outputV4]()},
}

// memberNames returns the JSON names of the fields of a struct.
func memberNames[T any]() []string {
	var names []string
	for f := range reflect.TypeFor[T]().Fields() {
		names = append(names, f.Tag.Get("json"))
	}
	return names
}

// scanMembers looks through the members of src. The error is set if src is ambiguous: if an object has a
// member twice, or a member of the format in other letters. If complete is set, missing resources of the file
// or missing instances of a resource are errors too. Engines write an empty list if there are none, so such a
// file is damaged, and continuing would create existing objects again. If src is not a valid file of version
// 4, the result means nothing.
func scanMembers(src []byte, complete bool) *memberScan {
	s := &memberScan{src: src, complete: complete, next: filePart}
	for s.err == nil && s.pos < len(src) {
		s.step()
	}
	return s
}

// memberScan scans JSON once. It stores member names only for the objects that are open.
type memberScan struct {
	src      []byte
	pos      int
	complete bool
	err      error
	unknown  bool // the file, a resource or an instance has a member that the format does not have
	open     []openPart
	names    [][]byte // of the members of all open objects, without quotes
	next     part     // the role of the next value
}

// openPart is an object or array that the scan is inside of.
type openPart struct {
	part  part
	array bool
	value bool // of an object: the next string is a value, not a name
	first int  // index of its first name in names
	many  map[string]struct{}
}

// fewMembers is the number of names up to which a linear search is cheaper than a map.
const fewMembers = 16

// step handles the next bracket, string or comma, or passes over everything up to it.
func (s *memberScan) step() {
	switch c := s.src[s.pos]; c {
	case '{', '[':
		s.open = append(s.open, openPart{part: s.next, array: c == '[', first: len(s.names)})
		s.pos++
		s.next = partInfos[s.next].element
	case '}', ']':
		s.pos++
		s.close()
	case '"':
		s.text()
	case ',':
		s.pos++
		if top := s.top(); top != nil {
			top.value = false
			s.next = partInfos[top.part].element
		}
	default: // white space, colons, numbers and words
		for s.pos++; s.pos < len(s.src) && !structural[s.src[s.pos]]; {
			s.pos++
		}
	}
}

// structural marks the characters that step handles.
var structural = [256]bool{'{': true, '}': true, '[': true, ']': true, ',': true, '"': true}

// top returns the innermost open object or array, or nil outside of all.
func (s *memberScan) top() *openPart {
	if len(s.open) == 0 {
		return nil
	}
	return &s.open[len(s.open)-1]
}

// close leaves the innermost object or array and forgets its names. If a required member is missing, that
// is an error.
func (s *memberScan) close() {
	top := s.top()
	if top == nil {
		return
	}
	info := partInfos[top.part]
	if s.complete && !top.array && info.required != "" && !s.has(top, info.required) {
		s.fail("%s has no %q; if there are none, this must be an empty list", info.name, info.required)
	}
	s.names = s.names[:top.first]
	s.open = s.open[:len(s.open)-1]
}

// has reports whether an open object has had a member.
func (s *memberScan) has(top *openPart, name string) bool {
	for _, n := range s.names[top.first:] {
		if string(n) == name {
			return true
		}
	}
	return false
}

// text skips a string, and records it if it is a member name.
func (s *memberScan) text() {
	start := s.pos + 1
	end, escaped := stringEnd(s.src, start)
	s.pos = min(end+1, len(s.src))
	top := s.top()
	if top == nil || top.array || top.value {
		return
	}
	top.value = true
	name := s.src[start:min(end, len(s.src))]
	if escaped {
		var text string
		if json.Unmarshal(s.src[start-1:s.pos], &text) == nil {
			name = []byte(text)
		}
	}
	s.member(top, name)
}

// stringEnd returns where the string that starts at start ends, and whether there is an escape in it.
func stringEnd(src []byte, start int) (end int, escaped bool) {
	for at := start; ; {
		n := bytes.IndexByte(src[at:], '"')
		if n < 0 {
			return len(src), escaped
		}
		end = at + n
		slash := bytes.IndexByte(src[at:end], '\\')
		if slash < 0 {
			return end, escaped
		}
		escaped = true
		at = min(at+slash+2, len(src)) // behind the escaped character
	}
}

// member notes a member of the object on top.
func (s *memberScan) member(top *openPart, name []byte) {
	info := partInfos[top.part]
	if s.seen(top, name) {
		if top.part == otherPart { // its names may be secret
			s.fail("an object has a member twice")
		} else {
			s.fail("an object has the member %q twice", name)
		}
		return
	}
	s.names = append(s.names, name)
	if info.element != otherPart {
		return // a map, whose names are free
	}
	s.next = info.parts[string(name)]
	s.unknown = s.unknown || info.known != nil && !slices.Contains(info.known, string(name))
	for _, known := range info.known {
		if len(known) == len(name) && string(name) != known && strings.EqualFold(known, string(name)) {
			s.fail("%s has a member %q, whose name is spelled %q", info.name, name, known)
		}
	}
}

// seen reports whether the object has had a member of that name. Large objects get a map, since comparing
// each name with all others takes quadratic time.
func (s *memberScan) seen(top *openPart, name []byte) bool {
	names := s.names[top.first:]
	if len(names) < fewMembers {
		for _, n := range names {
			if bytes.Equal(n, name) {
				return true
			}
		}
		return false
	}
	if top.many == nil {
		top.many = make(map[string]struct{}, 2*len(names))
		for _, n := range names {
			top.many[string(n)] = struct{}{}
		}
	}
	_, seen := top.many[string(name)]
	top.many[string(name)] = struct{}{}
	return seen
}

// fail records the first error, with its line.
func (s *memberScan) fail(format string, args ...any) {
	if s.err == nil {
		line := 1 + bytes.Count(s.src[:min(s.pos, len(s.src))], []byte{'\n'})
		s.err = corrupt("line %d: %s", line, fmt.Sprintf(format, args...))
	}
}
