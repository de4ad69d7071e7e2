// @ts-check
// The texts that are measured: made here, the same in every run, with the mistakes that people make.

/** @typedef {{ name: string, lines: number, text: string }} Sample */

/** @returns {readonly Sample[]} */
export function samples() {
  return [
    { name: '200 lines', lines: 200, text: documents(200) },
    { name: '5,000 lines in documents', lines: 5000, text: documents(5000) },
    { name: '5,000 lines in one List', lines: 5000, text: list(5000) },
  ].map((sample) => {
    const lines = sample.text.split('\n').length - 1;
    if (lines !== sample.lines) throw new Error(`${sample.name} has ${lines} lines`);
    return sample;
  });
}

/** A workspace of so many files, one object in each. @param {number} count @returns {readonly (readonly [name: string, text: string])[]} */
export function project(count) {
  return Array.from({ length: count }, (_, index) => {
    const text = kinds[index % kinds.length]?.(index) ?? '';
    return [`team-${index % 50}/part-${index}.yaml`, text];
  });
}

/** Where the GPU counts stand in a text: what the bench edits. @param {string} text @returns {readonly number[]} */
export function digits(text) {
  return [...text.matchAll(/nvidia\.com\/gpu: (?=\d)/g)].map((match) => match.index + match[0].length);
}

/** @param {number} lines */
function documents(lines) {
  const parts = collect(lines, (text) => `---\n${text}`);
  return fill(parts.join(''), lines);
}

/** @param {number} lines */
function list(lines) {
  const head = 'apiVersion: v1\nkind: List\nitems:\n';
  const parts = collect(lines - 3, (text) => text.replace(/^(?=.)/gm, '    ').replace(/^ {4}/, '  - '));
  return fill(head + parts.join(''), lines);
}

/** As many objects as fit. @param {number} lines @param {(text: string) => string} wrap */
function collect(lines, wrap) {
  const parts = [];
  let count = 0;
  for (let index = 0; ; index++) {
    const part = wrap(kinds[index % kinds.length]?.(index) ?? '');
    count += part.split('\n').length - 1;
    if (count > lines) return parts;
    parts.push(part);
  }
}

/** @param {string} text @param {number} lines */
function fill(text, lines) {
  return text + '# end\n'.repeat(lines - (text.split('\n').length - 1));
}

/** @type {readonly ((index: number) => string)[]} */
const kinds = [
  (index) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat-${index}
  labels: { app: chat-${index} }
spec:
  replicas: ${1 + (index % 3)}
  selector:
    matchLabels: { app: chat-${index} }
  template:
    metadata:
      labels: { app: chat-${index} }
    spec:
      nodeSelector:
        cloud.google.com/gke-accelerator: nvidia-l4
      tolerations:
        - key: nvidia.com/gpu
          ${index % 12 === 0 ? 'value: "present"' : 'operator: Exists'}
          effect: NoSchedule
      containers:
        - name: server
          image: ghcr.io/example/chat:1.${index}
          # The model is small enough for one card.
          args: ["--port", "8080", "--model", "/models/chat"]
          env:
            - name: CACHE
              value: /cache
          resources:
            ${index % 20 === 0 ? 'requests' : 'limits'}:
              nvidia.com/gpu: ${1 + (index % 4)}
`,
  (index) => `apiVersion: v1
kind: Service
metadata:
  name: chat-${index}
  annotations:
    example.com/owner: "team-${index % 5}"
    example.com/pager: quiet
spec:
  selector: { app: chat-${index} }
  ports:
    - name: http
      port: 80
      targetPort: 8080
`,
  (index) => `apiVersion: batch/v1
kind: Job
metadata:
  name: train-${index}
spec:
  backoffLimit: ${index % 3}
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: trainer
          image: ghcr.io/example/trainer:2.1
          command:
            - torchrun
            - --nproc_per_node=${1 + (index % 4)}
            - train.py
          resources:
            limits:
              nvidia.com/gpu: ${1 + (index % 4)}
              memory: 64Gi
`,
  (index) => `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: rank-${index}
spec:
  predictor:
    minReplicas: ${index % 2}
    maxReplicas: 4
    timeout: 60
    tolerations:
      - { key: nvidia.com/gpu, operator: Exists, effect: NoSchedule }
    model:
      modelFormat:
        name: huggingface
      storageUri: pvc://models/rank
      resources:
        limits:
          nvidia.com/gpu: 1
`,
  (index) => `apiVersion: v1
kind: ConfigMap
metadata:
  name: start-${index}
data:
  start.sh: |
    #!/bin/sh
    set -eu
    for part in 1 2 3; do
      echo "part $part"
    done
    exec python serve.py --shard ${index}
  limits.json: |
    { "requests": ${index}, "seconds": 30 }
`,
];
