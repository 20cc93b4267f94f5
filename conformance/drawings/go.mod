module github.com/olmgraft/graft/conformance/drawings

go 1.26.0

require github.com/olmgraft/graft v0.0.0

require (
	github.com/blang/semver/v4 v4.0.0 // indirect
	go.yaml.in/yaml/v2 v2.4.3 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	sigs.k8s.io/yaml v1.6.0 // indirect
)

replace github.com/olmgraft/graft => ../..
