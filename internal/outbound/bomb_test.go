package outbound

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"runtime"
	"testing"

	"github.com/olmgraft/graft/internal/budget"
)

// The limits apply to the unpacked size of a compressed answer.
func TestCompressedAnswersAreBounded(t *testing.T) {
	var bomb bytes.Buffer
	z, zeros := gzip.NewWriter(&bomb), make([]byte, 1<<20)
	for range 200 {
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write := func(status int) func(int, http.ResponseWriter) {
		return func(_ int, w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(status)
			_, _ = w.Write(bomb.Bytes())
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, status := range []int{http.StatusFound, http.StatusForbidden, http.StatusBadRequest} {
		got, sent, err := ask(t.Context(), t, &Transport{}, "POST", write(status))
		if err != nil || got.fault != nil || sent != 1 || len(got.body) != budget.RefusalBytes {
			t.Errorf("HTTP %d: %d bytes of a refusal were read in %d attempts: %v, %v", status, len(got.body), sent, err, got.fault)
		}
	}
	ctx := WithLimit(t.Context(), 1<<20)
	if _, sent, err := ask(ctx, t, &Transport{}, "GET", write(http.StatusOK)); !errors.Is(err, ErrTooLong) || sent != 1 {
		t.Errorf("%d attempts, %v", sent, err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("%d MiB were taken", used>>20)
	}
}
