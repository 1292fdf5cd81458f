{{- define "conclave.check" -}}
{{- if and (ne .Values.mode "shards") (ne .Values.mode "workers") -}}
{{- fail (printf "mode: %v, want shards or workers" .Values.mode) -}}
{{- end -}}
{{- if and (ne .Values.storage.kind "none") (ne .Values.storage.kind "claim") -}}
{{- fail (printf "storage.kind: %v, want none or claim" .Values.storage.kind) -}}
{{- end -}}
{{- if and (eq .Values.mode "shards") (eq .Values.storage.kind "none") -}}
{{- fail "mode: shards, with storage.kind: none: shards need storage to be merged; use storage.kind=claim, or mode=workers" -}}
{{- end -}}
{{- if and (or (eq .Values.mode "shards") (eq .Values.storage.kind "claim")) (not .Values.experiment) -}}
{{- fail "experiment: it is empty; use --set-file experiment=my.yaml" -}}
{{- end -}}
{{- end -}}

{{- define "conclave.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532}
{{- end -}}

{{- define "conclave.container" -}}
image: {{ .Values.image | quote }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{- define "conclave.work" -}}
resources:
  requests: {cpu: {{ .Values.resources.cpu | quote }}, memory: {{ .Values.resources.memory | quote }}}
  limits: {cpu: {{ .Values.resources.cpu | quote }}, memory: {{ .Values.resources.memory | quote }}}
{{- end -}}

{{- define "conclave.spread" -}}
{{- if .Values.spread -}}
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector: {matchLabels: {conclave: {{ .Release.Name }}}}
{{- end -}}
{{- end -}}
