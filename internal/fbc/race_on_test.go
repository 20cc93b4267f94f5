//go:build race

package fbc

// thorough is false where everything takes ten times as long.
const thorough = false
