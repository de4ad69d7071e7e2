import type { CrossReferences, Referenced, WorkloadFacts } from '../model/cross-references.ts';
import type { Manifest } from '../model/workload.ts';
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
  const words = name.toLowerCase().split(/[^a-z]+/);
  return words.some((word) => gpuWords.has(word)) && !words.some((word) => otherWords.test(word)) ? name : undefined;
}

const gpuWords: ReadonlySet<string> = new Set(['vllm', 'sglang', 'tgi', 'trtllm', 'lmdeploy', 'gpu', 'gpus', 'cuda']);

/** What runs next to such a server, without a GPU of its own. */
const otherWords =
  /^(?:cpu|cpus|no|non|without|router|routing|gateway|gw|proxy|lb|balancer|front|frontend|back|backend|ui|webui|web|app|client|bench.*|load.*|test.*|sim.*|mock|fake|operator|controller|manager|scheduler|monitor.*|metrics?|exporter|dashboard|queue|cache|redis|adapter|plugin|agent|apis?|services?|billing|catalog|portal|site|docs|quotas?|usage|pric(?:e|es|ing)|costs?|tokeniz.*|tpu|neuron)$/;
