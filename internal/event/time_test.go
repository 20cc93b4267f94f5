package event

import "testing"

func TestTimes(t *testing.T) {
	for file, want := range map[string]string{
		"distribution.json": "2025-11-20T14:46:40.512Z", "azure.json": "2025-11-20T14:46:40.512345678Z", "azure-event-grid.json": "2025-11-20T14:46:40.5123456Z",
		"azure-cloudevent.json": "2025-11-20T14:46:40.5123456Z", "harbor.json": "1763650000", "harbor-cloudevent.json": "2025-11-20T14:46:40Z",
		"docker-hub.json": "1763650000", "google.json": "2025-11-20T14:46:40.512Z", "google-cloudevent.json": "2025-11-20T14:46:40.512Z",
		"quay.json": "", "package.json": "", "client_payload.json": "",
	} {
		body := testdata(t, file)
		said, err := ParseAny("", body, nil)
		if err != nil {
			t.Fatal(err)
		}
		at, text := said.Stated, said.StatedText
		if text != want || at.IsZero() != (want == "") || want != "" && at.UTC().Format("2006-01-02") != "2025-11-20" {
			t.Errorf("%s: %q, %v; want %q", file, text, at, want)
		}
	}
}
