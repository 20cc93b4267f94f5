package registry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
)

// Image describes an image to push, layer by layer.
type Image struct {
	OCI              bool
	Labels           map[string]string
	Layers           []Layer
	OS, Architecture string
	// Config replaces the configuration that is made from the labels.
	Config []byte
}

// Layer is a blob with its media type.
type Layer struct {
	MediaType string
	Blob      []byte
}

// Member is an index's entry for an image or another index.
type Member struct {
	MediaType        string
	Digest           string
	Size             int64
	OS, Architecture string
	Annotations      map[string]string
}

// Compression selects the compression of a layer. The zero value is gzip.
type Compression string

// The compressions.
const (
	Gzip  Compression = "gzip"
	Zstd  Compression = "zstd"
	Plain Compression = "none"
)

// Entry is one entry of an archive: a directory if the name ends with a slash, a link if Link is set, else a
// file. Type overrides that.
type Entry struct {
	Name string
	Data []byte
	Link string
	Type byte
}

// Tar packs the entries in their order. Equal entries give equal bytes.
func Tar(entries ...Entry) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := &tar.Header{Name: e.Name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(e.Data)), Linkname: e.Link}
		switch {
		case e.Type != 0:
			h.Typeflag = e.Type
		case e.Link != "":
			h.Typeflag = tar.TypeSymlink
		case strings.HasSuffix(e.Name, "/"):
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.Data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// Pack compresses an archive into a layer.
func Pack(archive []byte, c Compression, oci bool) (Layer, error) {
	var out bytes.Buffer
	var w io.WriteCloser
	media := types.DockerLayer
	switch {
	case c == Plain && oci:
		return Layer{string(types.OCIUncompressedLayer), archive}, nil
	case c == Plain:
		return Layer{string(types.DockerUncompressedLayer), archive}, nil
	case c == Zstd:
		media = types.OCILayerZStd
		z, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return Layer{}, err
		}
		w = z
	case oci:
		media = types.OCILayer
		w = gzip.NewWriter(&out)
	default:
		w = gzip.NewWriter(&out)
	}
	if _, err := w.Write(archive); err != nil {
		return Layer{}, err
	}
	if err := w.Close(); err != nil {
		return Layer{}, err
	}
	return Layer{string(media), out.Bytes()}, nil
}

// PushImage stores an image as repository:tag, or by its digest alone if ref is a repository.
func (s *Server) PushImage(ref string, img Image) (Member, error) {
	repository, _, _ := strings.Cut(ref, ":")
	media, configMedia := types.DockerManifestSchema2, types.DockerConfigJSON
	if img.OCI {
		media, configMedia = types.OCIManifestSchema1, types.OCIConfigJSON
	}
	if img.Config == nil {
		config := v1.ConfigFile{OS: img.OS, Architecture: img.Architecture, Config: v1.Config{Labels: img.Labels}}
		config.RootFS.Type = "layers"
		img.Config, _ = json.Marshal(config)
	}
	manifest := v1.Manifest{SchemaVersion: 2, MediaType: media, Layers: []v1.Descriptor{}}
	var err error
	if manifest.Config, err = s.pushBlob(repository, string(configMedia), img.Config); err != nil {
		return Member{}, err
	}
	for _, layer := range img.Layers {
		desc, err := s.pushBlob(repository, layer.MediaType, layer.Blob)
		if err != nil {
			return Member{}, err
		}
		manifest.Layers = append(manifest.Layers, desc)
	}
	body, _ := json.Marshal(manifest)
	member, err := s.PushManifest(ref, string(media), body)
	member.OS, member.Architecture = img.OS, img.Architecture
	return member, err
}

// PushIndex stores an index of members.
func (s *Server) PushIndex(ref string, oci bool, members []Member) (Member, error) {
	media := types.DockerManifestList
	if oci {
		media = types.OCIImageIndex
	}
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: media, Manifests: []v1.Descriptor{}}
	for _, m := range members {
		digest, err := v1.NewHash(m.Digest)
		if err != nil {
			return Member{}, err
		}
		desc := v1.Descriptor{MediaType: types.MediaType(m.MediaType), Digest: digest, Size: m.Size, Annotations: m.Annotations}
		if m.OS != "" {
			desc.Platform = &v1.Platform{OS: m.OS, Architecture: m.Architecture}
		}
		index.Manifests = append(index.Manifests, desc)
	}
	body, _ := json.Marshal(index)
	return s.PushManifest(ref, string(media), body)
}

// PushManifest stores any manifest as repository:tag, or by its digest alone if ref is a repository.
func (s *Server) PushManifest(ref, mediaType string, body []byte) (Member, error) {
	repository, tag, tagged := strings.Cut(ref, ":")
	digest := digestOf(body)
	if !tagged {
		tag = digest
	}
	err := s.put(http.MethodPut, "/v2/"+repository+"/manifests/"+tag, mediaType, body)
	return Member{MediaType: mediaType, Digest: digest, Size: int64(len(body))}, err
}

func (s *Server) pushBlob(repository, mediaType string, blob []byte) (v1.Descriptor, error) {
	digest := digestOf(blob)
	err := s.put(http.MethodPost, "/v2/"+repository+"/blobs/uploads/?digest="+digest, "application/octet-stream", blob)
	hash, _ := v1.NewHash(digest)
	return v1.Descriptor{MediaType: types.MediaType(mediaType), Digest: hash, Size: int64(len(blob))}, err
}

// put writes without latency, faults, credentials and counting.
func (s *Server) put(method, path, mediaType string, body []byte) error {
	req, err := http.NewRequestWithContext(context.Background(), method, "http://"+s.Addr+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", mediaType)
	if reply := s.direct(req); reply.Status != http.StatusCreated {
		return fmt.Errorf("%s %s: %d %s", method, path, reply.Status, reply.Body.String())
	}
	return nil
}

func digestOf(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }
