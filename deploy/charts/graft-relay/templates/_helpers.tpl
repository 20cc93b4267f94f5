{{/* The name of all that is made: the release's, with the chart's where it does not say it. */}}
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

