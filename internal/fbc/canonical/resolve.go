package canonical

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

type valueType uint8

const (
	typeString valueType = iota
	typeNull
	typeBool
	typeInt
	typeUint // an integer that fits only an unsigned type
	typeFloat
	typeTime // looks like a timestamp; the value is its text
)

// value is the meaning of a scalar's text.
type value struct {
	typ valueType
	b   bool
	i   int64
	u   uint64
	f   float64
}

// words are the texts that do not mean themselves.
var words = func() map[string]value {
	m := map[string]value{}
	set := func(v value, names ...string) {
		for _, n := range names {
			m[n] = v
		}
	}
	set(value{typ: typeBool, b: true}, "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")
	set(value{typ: typeBool}, "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")
	set(value{typ: typeNull}, "~", "null", "Null", "NULL")
	set(value{typ: typeFloat, f: math.NaN()}, ".nan", ".NaN", ".NAN")
	set(value{typ: typeFloat, f: math.Inf(1)}, ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF")
	set(value{typ: typeFloat, f: math.Inf(-1)}, "-.inf", "-.Inf", "-.INF")
	return m
}()

const longestWord = 5

// resolve returns the meaning of a text without quotes and tag.
func resolve(text []byte) value {
	if len(text) == 0 {
		return value{typ: typeNull}
	}
	switch c := text[0]; {
	case c >= '0' && c <= '9', c == '+', c == '-':
		if v, ok := words[string(short(text))]; ok {
			return v
		}
		if isTimestamp(text) {
			return value{typ: typeTime}
		}
		return resolveNumber(text)
	case c == '.':
		if v, ok := words[string(short(text))]; ok {
			return v
		}
		if digitsOnly(text) {
			if f, err := strconv.ParseFloat(string(text), 64); err == nil {
				return value{typ: typeFloat, f: f}
			}
		}
	case strings.IndexByte("yYnNtTfFoO~", c) >= 0:
		if v, ok := words[string(short(text))]; ok {
			return v
		}
	}
	return value{}
}

// short avoids looking up texts that are longer than any word.
func short(text []byte) []byte {
	if len(text) > longestWord {
		return nil
	}
	return text
}

// digitsOnly reports whether text consists of characters that occur in numbers. No other text needs to be parsed
// as a number.
func digitsOnly(text []byte) bool {
	for _, c := range text {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' {
			continue
		}
		switch c {
		case '+', '-', '.', '_', 'x', 'X', 'o', 'O', 'p', 'P':
		default:
			return false
		}
	}
	return true
}

// resolveNumber reads the numbers that opm's parser knows: Go's integers, the floats of YAML 1.1, and binary
// numbers. Underscores are allowed anywhere.
func resolveNumber(text []byte) value {
	if len(text) < 18 && allDigits(text) && (text[0] != '0' || len(text) == 1) {
		var i int64
		for _, c := range text {
			i = i*10 + int64(c-'0')
		}
		return value{typ: typeInt, i: i}
	}
	if !digitsOnly(text) {
		return value{}
	}
	plain := strings.ReplaceAll(string(text), "_", "")
	if strings.IndexByte(plain, '.') < 0 {
		if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
			return value{typ: typeInt, i: i}
		}
		if u, err := strconv.ParseUint(plain, 0, 64); err == nil {
			return value{typ: typeUint, u: u}
		}
	}
	if float.MatchString(plain) {
		if f, err := strconv.ParseFloat(plain, 64); err == nil {
			return value{typ: typeFloat, f: f}
		}
	}
	// Like the original, it accepts a sign after 0b.
	if digits, ok := strings.CutPrefix(plain, "0b"); ok {
		if i, err := strconv.ParseInt(digits, 2, 64); err == nil {
			return value{typ: typeInt, i: i}
		}
	}
	return value{}
}

func allDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

var float = regexp.MustCompile(`^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$`)

var timestampLayouts = [...]string{
	"2006-1-2T15:4:5.999999999Z07:00",
	"2006-1-2t15:4:5.999999999Z07:00",
	"2006-1-2 15:4:5.999999999",
	"2006-1-2",
}

func isTimestamp(text []byte) bool {
	if len(text) < len("2006-1-2") || text[4] != '-' || !allDigits(text[:4]) {
		return false
	}
	for _, layout := range timestampLayouts {
		if _, err := time.Parse(layout, string(text)); err == nil {
			return true
		}
	}
	return false
}
