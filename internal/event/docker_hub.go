package event

import "github.com/olmgraft/graft/internal/reference"

// DockerHub is a webhook of Docker Hub.
const DockerHub FormName = "docker-hub"

var dockerHub = Form{
	Name: DockerHub, Proofs: []Proof{ByURL}, Registry: reference.DockerHub,
	Setup:  "Repository, Webhooks: URL `https://RELAY/docker-hub/SECRET`. Docker Hub signs nothing and sends no header",
	Time:   [][]string{{"push_data", "pushed_at"}},
	Detect: func(n Node) bool { return n.Has("push_data") }, Read: readDockerHub,
}

// readDockerHub reads a webhook of Docker Hub. The repository belongs to Docker Hub even if its account contains
// a dot. Graft does not call the callback URL.
func readDockerHub(n Node) {
	name := n.Get("repository").Get("repo_name")
	repository, err := joinRepository(reference.DockerHub, name.Must())
	if err != nil {
		name.Fail("%v", err)
	}
	tag := n.Get("push_data").Get("tag")
	tag.Must()
	n.Found(Publication{Repository: repository, Tag: tag.Tag()})
}
