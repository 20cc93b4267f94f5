{{/* Name of the objects: the release's name, with the chart's name if the release's lacks it. */}}
{{- define "graft.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Name, namespace and labels of an object. */}}
{{- define "graft.metadata" -}}
name: {{ include "graft.name" . }}
namespace: {{ .Release.Namespace }}
{{ include "graft.labels" . }}
{{- end }}

{{- define "graft.labels" -}}
labels:
  app: {{ include "graft.name" . }}
  app.kubernetes.io/name: {{ .Chart.Name }}
  app.kubernetes.io/instance: {{ .Release.Name }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The configuration, with the queue of the value nats. */}}
{{- define "graft.config" -}}
{{- $config := deepCopy .Values.config }}
{{- with .Values.nats }}
{{- if .url }}
{{- $queue := omit (default dict $config.queue) "dir" }}
{{- $_ := set $queue "url" .url }}
{{- $_ := set $queue "replicas" .replicas }}
{{- range $key, $value := dict "stream" .stream "partitions" .partitions }}
{{- if $value }}{{ $_ := set $queue $key $value }}{{ end }}
{{- end }}
{{- range $key, $value := dict "nkey" .nkey "creds" .creds }}
{{- if $value }}{{ $_ := set $queue $key (printf "/etc/graft/secrets/%s" $value) }}{{ end }}
{{- end }}
{{- if .tls.secretName }}
{{- $tls := dict "ca" "/etc/graft/nats/ca.crt" }}
{{- if .tls.clientCertificate }}
{{- $_ := set $tls "cert" "/etc/graft/nats/tls.crt" }}
{{- $_ := set $tls "key" "/etc/graft/nats/tls.key" }}
{{- end }}
{{- $_ := set $queue "tls" $tls }}
{{- end }}
{{- $_ := set $config "queue" $queue }}
{{- end }}
{{- end }}
{{- toYaml $config }}
{{- end }}
