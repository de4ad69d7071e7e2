import type { Cursor, Located } from '../../yaml/cursor.ts';
import { asText, getIn, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import { deviceOf } from '../claims.ts';
import type { Referenced } from '../cross-references.ts';
import { lookUp } from '../manifest.ts';
import { countOf, lowerCount } from '../pod.ts';
import { lowerQuantity } from '../quantity.ts';
import { type Inherited, objectName } from '../referenced.ts';
import type { LlmConfigFacts, LlmRoleFacts, ReferencedPods, WrittenNumber } from '../referenced-pods.ts';
import type { FieldSharding } from '../workload.ts';
import type { KindEntry, KindInput, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { isStopped, withoutPods } from './kserve.ts';
import { between, exactly, fromPodSpec, times, unlimitedRetries, written } from './pod-sets.ts';

/** KServe's runtimes and LLM services. https://github.com/kserve/kserve/tree/master/pkg/apis/serving */
export const kserveLlmKinds: readonly KindEntry[] = [
  {
    group: 'serving.kserve.io',
    kinds: ['ServingRuntime'],
    words: ['workerSpec'],
    role: 'definition',
    named: true,
    lower: ({ root }) => lowerRuntime(getIn(root, 'spec')),
  },
  {
    group: 'serving.kserve.io',
    kinds: ['ClusterServingRuntime'],
    words: ['workerSpec'],
    role: 'definition',
    named: true,
    cluster: true,
    lower: ({ root }) => lowerRuntime(getIn(root, 'spec')),
  },
  {
    group: 'serving.kserve.io',
    kinds: ['LLMInferenceService'],
    spansPods: true,
    mountsShm: true,
    bounds: (root) => [getIn(root, 'spec', 'scaling'), getIn(root, 'spec', 'prefill', 'scaling')],
    words: ['LLMInferenceService'],
    role: 'serving',
    named: true,
    lower: lowerLlmService,
  },
  {
    group: 'serving.kserve.io',
    kinds: ['LLMInferenceServiceConfig'],
    spansPods: true,
    mountsShm: true,
    bounds: (root) => [getIn(root, 'spec', 'scaling'), getIn(root, 'spec', 'prefill', 'scaling')],
    words: ['LLMInferenceService'],
    role: 'definition',
    named: true,
    lower: lowerLlmService,
  },
];

function lowerRuntime(spec: Cursor | undefined): KindLowering {
  const podSets = [
    ...fromPodSpec('predictor', spec, exactly(null)),
    ...fromPodSpec('worker', getIn(spec, 'workerSpec'), exactly(null)),
  ];
  return { podSets, retries: null, scaling: null, partial: true };
}

/** A service inherits from the configs that it names and from the cluster's default configs, so it is always partial. */
function lowerLlmService(object: KindInput): KindLowering {
  const { root, annotations, namespace, crossReferences } = object;
  const spec = getIn(root, 'spec');
  const claimed = annotatedClaim(annotations);
  const bases = items(getIn(spec, 'baseRefs')).flatMap((reference): readonly Base[] => {
    const name = getIn(reference, 'name');
    if (name === undefined || isTemplated(name)) return [];
    const from = crossReferences.llmConfig(namespace, asText(name) ?? '');
    return from === undefined ? [] : [{ at: name, from }];
  });
  const roles = [['decode', spec] as const, ['prefill', getIn(spec, 'prefill')] as const];
  const podSets = roles.flatMap(([name, role]) => {
    // A config may start the server in its own way.
    const sharding = getIn(spec, 'baseRefs') === undefined ? shardingOf(role) : undefined;
    return rolePods(name, role, bases).map((set) => ({ ...set, sharding }));
  });
  const scheduler = getIn(spec, 'router', 'scheduler', 'template');
  const lowered: KindLowering = {
    podSets: [...podSets.map((set) => ({ ...set, claimed })), ...fromPodSpec('scheduler', scheduler, exactly(1))],
    retries: unlimitedRetries,
    scaling: null,
    partial: true,
  };
  return isStopped(object) ? withoutPods(lowered) : lowered;
}

/** A config that the service names, with the location of the reference. */
interface Base {
  readonly at: Cursor;
  readonly from: Referenced<LlmConfigFacts>;
}

type RoleName = 'decode' | 'prefill';

/** One role: a head and, with a worker, a group of as many pods as the parallelism requires. */
function rolePods(name: RoleName, role: Cursor | undefined, bases: readonly Base[]): readonly PodSetSource[] {
  const inherited: Inherited[] = [];
  // Later configs take precedence over earlier ones, and the service over all of them.
  const based = <T>(pick: (facts: LlmRoleFacts) => T | null) =>
    [...bases].reverse().flatMap((base): readonly { readonly base: Base; readonly value: T }[] => {
      const facts = base.from.facts[name];
      const value = facts === null ? null : pick(facts);
      return value === null ? [] : [{ base, value }];
    })[0];

  const counted = getIn(role, 'replicas') !== undefined || getIn(role, 'scaling') !== undefined;
  const pods = (part: 'template' | 'worker') =>
    templatePods(
      getIn(role, part),
      based((facts) => facts[part]),
    );
  const head = pods('template');
  const worker = pods('worker');
  if (head === undefined && worker === undefined) return [];
  const taken = counted ? undefined : based(({ replicas }) => replicas);
  if (taken !== undefined) inherited.push({ fact: 'replicas', from: objectName(taken.base.from) });
  const groups = taken?.value ?? llmReplicas(role);
  const size = (key: 'data' | 'dataLocal' | 'pipeline') => {
    const value = getIn(role, 'parallelism', key);
    return value === undefined ? based((facts) => facts[key])?.value : { value: lowerCount(value, 1) };
  };
  const sets =
    head === undefined ? [] : [{ ...head, name, pods: groups, replicas: getIn(role, 'replicas'), inherited }];
  if (worker === undefined) return sets;
  const nodes = groupSize(size('data'), size('dataLocal'), size('pipeline'));
  const others = times(groups, nodes === null ? null : Math.max(nodes - (head === undefined ? 0 : 1), 0));
  return [...sets, { ...worker, name: `${name} worker`, pods: others, replicas: undefined, inherited }];
}

/** The pods of the service's own template, of a config's template, or of both merged; undefined if there is neither. */
function templatePods(
  pod: Cursor | undefined,
  found: { readonly base: Base; readonly value: ReferencedPods } | undefined,
): Pick<PodSetSource, 'pod' | 'metadata' | 'inheritedPods'> | undefined {
  const place = pod ?? found?.base.at;
  if (place === undefined) return undefined;
  const inheritedPods = found && { at: found.base.at, from: found.base.from, pods: found.value };
  return { pod: place, metadata: undefined, ...(inheritedPods && { inheritedPods }) };
}

/** `replicas`, or bounds under `scaling`; never both. Without traffic, KEDA goes below the minimum to an idle count of 0. */
export function llmReplicas(role: Cursor | undefined): PodCount {
  const scaling = getIn(role, 'scaling');
  if (scaling === undefined) return written(getIn(role, 'replicas'));
  const max = getIn(scaling, 'maxReplicas');
  const idle = lowerCount(getIn(scaling, 'wva', 'keda', 'idleReplicaCount'), 1);
  const min = idle === 0 ? 0 : lowerCount(getIn(scaling, 'minReplicas'), 1);
  return between(min, max === undefined ? null : lowerCount(max, 0));
}

/**
 * The sizes that KServe's own templates pass to vLLM: `tensor`, and with workers also `dataLocal`, the data ranks of each pod. A container with
 * its own command may start the server differently. Arguments replace those of the template, so it is uncertain whether the sizes reach vLLM.
 * https://github.com/kserve/kserve/tree/master/config/llmisvcconfig
 */
function shardingOf(role: Cursor | undefined): FieldSharding | undefined {
  const parallelism = getIn(role, 'parallelism');
  const containers = ['template', 'worker'].flatMap((part) => items(getIn(role, part, 'containers')));
  const has = (field: string) => containers.some((container) => getIn(container, field) !== undefined);
  if (has('command')) return undefined;
  if (parallelism === undefined) return singleDevice(role);
  const keys = getIn(role, 'worker') === undefined ? ['tensor'] : ['tensor', 'dataLocal'];
  const sizes = keys.flatMap((key) => getIn(parallelism, key) ?? []);
  const [at] = sizes;
  const counts = sizes.map((size) => lowerCount(size, 1));
  if (at === undefined || counts.includes(null) || getIn(parallelism, 'tensor') === undefined) return undefined;
  const devices = counts.reduce<number>((all, one) => all * (one ?? 1), 1);
  const text = sizes.map((size) => `${keyOf(size)} ${asText(size) ?? ''}`).join(' × ');
  return { text, devices, at, ...(has('args') && { uncertain: true }) };
}

/** Without sizes, vLLM uses one GPU, unless arguments or a variable with arguments say otherwise. */
function singleDevice(role: Cursor | undefined): FieldSharding | undefined {
  if (getIn(role, 'worker') !== undefined) return undefined;
  const containers = items(getIn(role, 'template', 'containers'));
  const server = containers.find((container) => asText(getIn(container, 'name')) === 'main');
  const limits = getIn(server, 'resources', 'limits');
  const at = getIn(limits, 'nvidia.com/gpu') ?? getIn(limits, 'amd.com/gpu');
  const isOpen = ['args', 'envFrom'].some((key) => getIn(server, key) !== undefined);
  const takesArguments = items(getIn(server, 'env')).some((one) => /ARGS/.test(asText(getIn(one, 'name')) ?? ''));
  if (at === undefined || isOpen || takesArguments) return undefined;
  return { text: 'vLLM without parallelism.tensor', devices: 1, at };
}

/** The pods of one group: data ranks divided by ranks per node, or the stages of the pipeline. */
function groupSize(
  data: WrittenNumber | undefined,
  local: WrittenNumber | undefined,
  pipeline: WrittenNumber | undefined,
): number | null {
  if (data === undefined && local === undefined) return pipeline === undefined ? 1 : pipeline.value;
  const ranks = data === undefined ? 1 : data.value;
  const each = local === undefined ? 1 : local.value;
  return ranks === null || each === null ? null : Math.max(Math.floor(ranks / Math.max(each, 1)), 1);
}

/** The devices that annotations request: KServe then creates a claim for the main container of every pod. */
function annotatedClaim(annotations: readonly Located<string>[]) {
  const deviceClass = lookUp(annotations, 'serving.kserve.io/exp-dra-device-class');
  if (deviceClass === undefined || isTemplated(deviceClass.at)) return [];
  const count = lookUp(annotations, 'serving.kserve.io/exp-dra-device-count');
  const selector = lookUp(annotations, 'serving.kserve.io/exp-dra-cel-selector');
  return deviceOf(
    deviceClass.value,
    count === undefined ? 1 : countOf(lowerQuantity(count.at)),
    selector === undefined ? [] : [asText(selector.at) ?? ''],
    deviceClass.at,
  );
}
