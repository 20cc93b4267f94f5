module github.com/olmgraft/graft/conformance/explorer

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/olmgraft/graft v0.0.0-00010101000000-000000000000
)

require (
	github.com/blang/semver/v4 v4.0.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	go.yaml.in/yaml/v2 v2.4.3 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	sigs.k8s.io/yaml v1.6.0 // indirect
)

replace github.com/olmgraft/graft => ../..
