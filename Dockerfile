# The image of the action, also for other CI: the static binary and certificates. With --target controller it is
# the image of graft-controller, with --target relay that of graft-relay. The bases are named by digest, and are
# arguments, so that it can be built without a registry.
ARG BUILD_IMAGE=docker.io/library/golang:1.26@sha256:2dbae744204892730b7032501f5973360ce57cfe118a194b338a97b5aa2d40cc
ARG RUN_IMAGE=gcr.io/distroless/static-debian12:latest@sha256:d75cdd72874d4790092fcb1b058493ecf6bb5bf2b2b897045b00ff01d91843f2

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
COPY cmd cmd
COPY deploy/crds deploy/crds
COPY formulary formulary
COPY internal internal
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/olmgraft/graft/internal/command.Version=${VERSION}" -o /graft ./cmd/graft

FROM build AS build-controller
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /graft-controller ./cmd/graft-controller

FROM build AS build-relay
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/olmgraft/graft/internal/command.Version=${VERSION}" -o /graft-relay ./cmd/graft-relay

FROM ${RUN_IMAGE} AS controller
COPY --from=build-controller /graft-controller /graft-controller
ENTRYPOINT ["/graft-controller"]

FROM ${RUN_IMAGE} AS relay
COPY --from=build-relay /graft-relay /graft-relay
ENTRYPOINT ["/graft-relay"]

FROM ${RUN_IMAGE}
COPY --from=build /graft /graft
ENTRYPOINT ["/graft"]
