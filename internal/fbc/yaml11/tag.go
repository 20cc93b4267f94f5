package yaml11

import (
	"encoding/base64"
	"strings"
)

// taggedValue gives the value of a scalar that has a tag. Tags that YAML does
// not define make a text of anything.
func (t *Tree) taggedValue(n *node, tag string) (value, []byte, error) {
	name, standard := strings.CutPrefix(tag, tagPrefix)
	if !standard {
		return value{}, n.val, nil
	}
	v := resolve(n.val)
	var ok bool
	switch name {
	case "str":
		return value{}, n.val, nil
	case "binary":
		data, err := base64.StdEncoding.DecodeString(string(n.val))
		if err != nil {
			return value{}, nil, fault(t.src, int(n.pos), "a !!binary value that is not base64")
		}
		return value{}, data, nil
	case "bool":
		ok = v.typ == typeBool
	case "int":
		v = untimed(v, n.val)
		ok = v.typ == typeInt || v.typ == typeUint
	case "float":
		v = untimed(v, n.val)
		if v.typ == typeInt {
			v = value{typ: typeFloat, f: float64(v.i)}
		}
		ok = v.typ == typeFloat
	case "null":
		ok = v.typ == typeNull
	case "timestamp":
		ok = v.typ == typeTime
	default:
		return value{}, n.val, nil
	}
	if !ok {
		return value{}, nil, fault(t.src, int(n.pos), "a %s is not a !!%s", typeNames[v.typ], name)
	}
	return v, n.val, nil
}

// untimed reads a text that looks like a timestamp as a number, since a tag
// says that it is one.
func untimed(v value, text []byte) value {
	if v.typ == typeTime {
		return resolveNumber(text)
	}
	return v
}
