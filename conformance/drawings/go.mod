module github.com/olmgraft/graft/conformance/drawings

go 1.26.0

require github.com/olmgraft/graft v0.0.0

require github.com/blang/semver/v4 v4.0.0 // indirect

replace github.com/olmgraft/graft => ../..
