//go:build !race

package fbc

const thorough = true
