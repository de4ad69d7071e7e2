import { wordSet } from '../catalog/word-patterns.ts';
import type { CrossReferences, Referenced } from '../model/cross-references.ts';
import type { Manifest } from '../model/workload.ts';
import type { WorkloadFacts } from '../model/workload-facts.ts';
import { asText, type Cursor, getIn, isTemplated } from '../yaml/cursor.ts';

/** The workload that a scaler scales, if it is in the same project. KEDA's default target kind is Deployment. */
export function targetOf(
  { root, kind, namespace }: Manifest,
  crossReferences: CrossReferences,
): Referenced<WorkloadFacts> | undefined {
  const target = getIn(root, 'spec', 'scaleTargetRef');
  const name = nameOf(root, kind);
  const written = getIn(target, 'kind');
  if (name === undefined || isTemplated(name) || isTemplated(written)) return undefined;
  const targetKind = asText(written) ?? (/ScaledObject$/.test(kind) ? 'Deployment' : '');
  return crossReferences.workload(targetKind, namespace, asText(name) ?? '');
}

function nameOf(root: Cursor | undefined, kind: string): Cursor | undefined {
  const target = getIn(root, 'spec', 'scaleTargetRef');
  return getIn(target, 'name') ?? (kind === 'HTTPScaledObject' ? getIn(target, 'deployment') : undefined);
}

/** The name of a scaler's target if its words say that it holds GPUs: a server that runs on nothing else, or `gpu`. */
export function nameOfGpuTarget({ root, kind }: Manifest): string | undefined {
  const at = nameOf(root, kind);
  const name = at === undefined || isTemplated(at) ? '' : (asText(at) ?? '');
  return suggestsGpus(name) ? name : undefined;
}

/** Whether the words of a name say that it holds GPUs. */
export function suggestsGpus(name: string): boolean {
  const words = name.toLowerCase().split(/[^a-z]+/);
  return words.some((word) => gpuWords.has(word)) && !words.some((word) => otherWords.has(word));
}

const gpuWords = wordSet('vllm sglang tgi trtllm lmdeploy gpu gpus cuda');

/** What runs next to such a server, without a GPU of its own. */
const otherWords = wordSet(
  'cpu cpus no non without tpu neuron router routing gateway gw proxy lb balancer queue cache redis tokenizer',
  'front frontend back backend ui webui web app client api apis portal site operator controller manager scheduler',
  'monitor monitoring metric metrics exporter adapter plugin agent dashboard docs service services catalog',
  'billing quota quotas usage price prices pricing cost costs bench benchmark load loadgen loadtest locust test',
  'tester sim simulator mock fake',
);
