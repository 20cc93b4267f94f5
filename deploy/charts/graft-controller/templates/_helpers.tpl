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

{{/* Secret with the webhook's certificate. */}}
{{- define "graft.tls" -}}
{{- default (printf "%s-tls" (include "graft.name" .)) .Values.webhook.secretName }}
{{- end }}

{{/* A binding of the role of the same name to the controller. */}}
{{- define "graft.bound" -}}
subjects:
- kind: ServiceAccount
  name: {{ include "graft.name" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* The controller's permissions for CatalogSources. */}}
{{- define "graft.rules" -}}
- apiGroups: [operators.coreos.com]
  resources: [catalogsources]
  verbs: [get, list, watch, patch]
- apiGroups: [operators.coreos.com]
  resources: [catalogsources/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- define "graft.clusterversions" -}}
- apiGroups: [config.openshift.io] # for {ocp_major_version} and {ocp_minor_version}
  resources: [clusterversions]
  verbs: [get, list, watch]
{{- end }}
