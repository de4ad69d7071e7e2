// Manifests that several tests start from.

/** A pod with a GPU in requests only: the API server rejects it. */
export const rejectedPod = `apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  containers:
    - name: main
      image: busybox:1.36
      resources:
        requests:
          nvidia.com/gpu: 1
`;

/** A service that never scales to zero, with one GPU of unknown model. */
export const endpoint = `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: chat
spec:
  predictor:
    minReplicas: 1
    model:
      modelFormat: {name: huggingface}
      resources:
        limits:
          nvidia.com/gpu: 1
`;

/** A service whose GPUs are those of the ServingRuntime vllm. */
export const servedByRuntime = `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec:
  predictor:
    minReplicas: 1
    maxReplicas: 1
    model: {modelFormat: {name: huggingface}, runtime: vllm}
`;

/** A pod with a whole GPU and the caret at its request, for `withCursor`. @param selector lines below `spec:` */
export function podWithCaret(selector = ''): string {
  return `apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:${selector}
  containers:
    - name: main
      image: busybox:1.36
      resources:
        limits:
          nvidia.com/gpu$0: 1
`;
}

export const selectsA100 = '\n  nodeSelector:\n    nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB';

/** A Deployment whose pods have one GPU. @param selector its node selector, a flow mapping */
export function gpuDeployment(name: string, selector = '{}'): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      nodeSelector: ${selector}
      containers: [{name: main, image: "registry.example/server:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`;
}

/** A config.json of a model with 7.24 billion parameters. */
export function modelConfig(changes: Readonly<Record<string, unknown>>): string {
  const config = {
    model_type: 'mistral',
    hidden_size: 4096,
    intermediate_size: 14336,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    vocab_size: 32000,
    max_position_embeddings: 8192,
    tie_word_embeddings: false,
  };
  return JSON.stringify({ ...config, ...changes });
}

/** A pod in which vLLM serves a model on an L4. */
export function servedPod(model: string): string {
  return `apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: main
      image: vllm/vllm-openai:v0.19.0
      args: [--model, ${model}, --max-model-len, "4096"]
      resources: {limits: {nvidia.com/gpu: 1}}
`;
}

/** A job that trains a model on an A100. */
export function trainedJob(model: string): string {
  return `apiVersion: batch/v1
kind: Job
metadata: {name: tune}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
      containers:
        - name: main
          image: registry.example/trainer:1.2
          command: [python, train.py, --model_name_or_path, ${model}, --per_device_train_batch_size, "1", --bf16, "true", --max_seq_length, "2048", --gradient_checkpointing, "true"]
          resources: {limits: {nvidia.com/gpu: 1}}
`;
}
