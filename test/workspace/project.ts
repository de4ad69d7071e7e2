import { Analysis, type FileAnalysis } from '../../server/src/analysis.ts';
import { gpusOf } from '../../server/src/cost/estimate.ts';

// A project of several files, for tests of references between files.

export const root = 'file:///project';

export const service = `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec:
  predictor:
    minReplicas: 2
    maxReplicas: 2
    model:
      modelFormat: {name: huggingface}
      runtime: vllm
`;

export const runtime = (gpus: number, kind = 'ServingRuntime') => `apiVersion: serving.kserve.io/v1alpha1
kind: ${kind}
metadata: {name: vllm}
spec:
  containers:
    - name: kserve-container
      image: registry.example/vllm:1
      resources: {limits: {nvidia.com/gpu: ${gpus}}}
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
`;

/** An analysis of several files; the first is the one under test. */
export function project(files: Readonly<Record<string, string>>): Analysis {
  const analysis = new Analysis({ strict: true });
  for (const [name, text] of Object.entries(files)) analysis.setFile(`${root}/${name}`, text);
  return analysis;
}

export function total(file: FileAnalysis | undefined): number | null | undefined {
  const workload = file?.documents.flatMap(({ workloads }) => workloads).find(({ role }) => role !== 'definition');
  return workload && gpusOf(workload).min;
}
