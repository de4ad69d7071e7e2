import type { FlagMeaning } from '../catalog/flag-records.ts';
import { formatGiB, formatNumber } from '../cost/money.ts';
import { type CardFit, requestedDevices } from '../memory/fit.ts';
import type { MemoryEstimate } from '../memory/serving.ts';
import { type ServingLever, servingLevers } from '../memory/serving-levers.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import type { AcceleratorRequest, Container, PodSet } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { setServerFlag } from '../rewrite/server-flag.ts';
import type { YamlDocument } from '../yaml/node.ts';

/** What takes less memory, if a model needs more than half of its device. */
export function tightLevers(
  estimate: MemoryEstimate,
  { haveGiB }: CardFit,
  podSet: PodSet,
  request: AcceleratorRequest,
): readonly ServingLever[] {
  // Servers on Neuron devices have other flags.
  if (estimate.neededGiB < haveGiB / 2 || estimate.ranks > 1) return [];
  const devices = requestedDevices(acceleratorByName(podSet.accelerators, request.resource), request);
  const card = devices?.card;
  const hardware = { cardGiB: haveGiB, gpus: devices?.count ?? null, ...(card !== undefined && { card }) };
  // Slices have no link between them.
  const isCard = request.form === 'whole';
  return servingLevers(estimate, hardware).filter(({ kind }) => isCard || kind !== 'tensor');
}

/** `Less memory per GPU: FP8 weights (7 GiB), half the context (8 GiB)`; undefined if nothing does. */
export function leverWords(levers: readonly ServingLever[]): string | undefined {
  if (levers.length === 0) return undefined;
  return `Less memory per GPU: ${levers.map((one) => `${nameOf(one)} (−${formatGiB(one.savesGiB)} GiB)`).join(', ')}`;
}

function nameOf({ kind, served: { context, tensor } }: ServingLever): string {
  switch (kind) {
    case 'fp8-weights':
      return 'FP8 weights';
    case 'int4-weights':
      return 'a 4-bit checkpoint';
    case 'fp8-cache':
      return 'FP8 KV cache';
    case 'context':
      return `requests up to ${formatNumber(context ?? 0)} tokens`;
    case 'tensor':
      return `tensor parallelism ${tensor ?? 1}`;
    default:
      return 'no CUDA graphs';
  }
}

/** The change of one flag that applies a lever; undefined if it is more than a flag, or the command line cannot be edited. */
export function leverFix(lever: ServingLever, document: YamlDocument, container: Container): Fix | undefined {
  const flag = flagOf(lever);
  if (flag === undefined) return undefined;
  const [means, name, value] = flag;
  const title = `Set ${name}${value === null ? '' : ` to ${value}`}: ${formatGiB(lever.savesGiB)} GiB less per GPU`;
  const edits = setServerFlag(document, container, { means, flag: name, value }, ({ name: one }) =>
    means === 'number-format' ? one.startsWith('q') : true,
  );
  return fix(title, 'unsafe', edits);
}

function flagOf({ kind, served: { engine, context } }: ServingLever): [FlagMeaning, string, string | null] | undefined {
  const isVllm = engine === 'vllm';
  switch (kind) {
    case 'fp8-weights':
      return ['number-format', '--quantization', 'fp8'];
    case 'fp8-cache':
      return ['cache-type', '--kv-cache-dtype', isVllm ? 'fp8' : 'fp8_e5m2'];
    case 'context':
      return ['context-length', isVllm ? '--max-model-len' : '--context-length', String(context)];
    case 'eager':
      return ['eager', '--enforce-eager', null];
    default:
      return undefined;
  }
}
