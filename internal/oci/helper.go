package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/olmgraft/graft/internal/failure"
)

// helperTime limits a credential helper. A helper that waits for input would block a run forever.
const helperTime = 30 * time.Second

// askHelper runs docker-credential-NAME get. If the helper has nothing for the registry, askHelper returns no
// credentials. It never repeats the helper's output, which may be the secret.
func askHelper(ctx context.Context, helper, registry string) (authn.AuthConfig, error) {
	var none authn.AuthConfig
	program := "docker-credential-" + helper
	failed := func(why string) (authn.AuthConfig, error) {
		return none, failure.New(failure.RegistryAuth, "asking %s for the credentials of %s: %s", program, registry, why).
			Fix("Run the credential helper by hand, with echo %s | %s get.", serverOf(registry), program)
	}
	if strings.ContainsAny(helper, `/\`) {
		return failed("the name of a helper is no path")
	}
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "get")
	cmd.WaitDelay = time.Second
	cmd.Stdin = strings.NewReader(serverOf(registry))
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	if ctx.Err() != nil {
		return failed("it did not answer in time")
	}
	if err != nil {
		if strings.Contains(strings.ToLower(out.String()), "credentials not found") {
			return none, nil
		}
		return failed(err.Error())
	}
	var answer struct{ Username, Secret string }
	if json.Unmarshal(out.Bytes(), &answer) != nil {
		return failed("its answer is not JSON")
	}
	if answer.Username == "<token>" {
		return authn.AuthConfig{IdentityToken: answer.Secret}, nil
	}
	return authn.AuthConfig{Username: answer.Username, Password: answer.Secret}, nil
}

// serverOf returns the key under which docker login stores a registry's credentials.
func serverOf(registry string) string {
	if registry == name.DefaultRegistry {
		return authn.DefaultAuthKey
	}
	return registry
}
