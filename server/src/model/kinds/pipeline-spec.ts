import { acceleratorResource, gpusNamed } from '../../catalog/index.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asText, entries, getIn, items, keyOf } from '../../yaml/cursor.ts';
import { countIn } from '../count.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { lowerContainer } from '../pod.ts';
import { byName } from '../requested-resource.ts';
import type { KindEntry, KindInput, KindLowering, PodSetSource } from './kind.ts';
import { platformKind } from './pipeline-platform.ts';
import { exactly } from './pod-sets.ts';
import { devicesPerPod } from './step-references.ts';
import { heaviestOf, podsOf, type Use } from './workflow-branches.ts';
import { inOrder, limitedTo, listLength, maybe, repeated } from './workflow-runs.ts';

/** Compiled Kubeflow pipelines: a pod for each task of an executor. */
export const pipelineSpecKinds: readonly KindEntry[] = [
  {
    group: 'kubeflow-pipelines',
    kinds: ['PipelineSpec'],
    words: ['executorLabel'],
    likelyRole: 'batch',
    lower: lowerPipelineSpec,
  },
];

/** https://github.com/kubeflow/pipelines/blob/master/api/v2alpha1/pipeline_spec.proto */
function lowerPipelineSpec(object: KindInput): KindLowering {
  const { root } = object;
  const executors = entries(getIn(root, 'deploymentSpec', 'executors'));
  const sources = executors.map(executorPods);
  const weights = sources.map(devicesPerPod);
  const indexes = new Map(executors.map((executor, index) => [keyOf(executor), index]));
  const found = usesOf(getIn(root, 'root'), { components: getIn(root, 'components'), indexes, weights }, 0);
  const heaviest = heaviestOf(found, weights);
  const podSets = sources.flatMap((source, index) => {
    if (source === undefined) return [];
    const runs = found.get(index);
    const nodes = nodesOfExecutor(executors[index], object);
    return [{ ...source, ...nodes, pods: runs === undefined ? exactly(0) : podsOf(runs, index === heaviest) }];
  });
  return { podSets, retries: null, scaling: null, partial: true };
}

/** The node labels of an executor, from the settings in the same file. */
function nodesOfExecutor(
  executor: Cursor | undefined,
  { namespace, crossReferences }: KindInput,
): Pick<PodSetSource, 'inheritedPods'> {
  if (executor === undefined) return {};
  const from = crossReferences.steps(`kubeflow-pipelines/${platformKind}`, namespace, '');
  const [pods] = from?.facts.runs[keyOf(executor)] ?? [];
  return from === undefined || pods === undefined ? {} : { inheritedPods: { at: executor, from, pods } };
}

interface Graph {
  readonly components: Cursor | undefined;
  readonly indexes: ReadonlyMap<string, number>;
  readonly weights: readonly number[];
}

/** Components may contain components; more than this is not a pipeline. */
const maxDepth = 12;

/** The pods that a component runs at once, by executor. */
function usesOf(component: Cursor | undefined, graph: Graph, depth: number): Use {
  const label = asText(getIn(component, 'executorLabel'));
  const index = label === undefined ? undefined : graph.indexes.get(label);
  if (index !== undefined) return new Map([[index, { busiest: 1, most: 1 }]]);
  const tasks = depth > maxDepth ? [] : entries(getIn(component, 'dag', 'tasks'));
  const uses = tasks.map((task): Use => {
    const name = asText(getIn(task, 'componentRef', 'name')) ?? '';
    return timesOf(task, usesOf(getIn(graph.components, name), graph, depth + 1));
  });
  const positions = new Map(tasks.map((task, at) => [keyOf(task), at]));
  const direct = tasks.map((task) =>
    items(getIn(task, 'dependentTasks')).flatMap((one) => positions.get(asText(one) ?? '') ?? []),
  );
  return inOrder(uses, direct, graph.weights);
}

/** A condition or a list that is only known at run time makes the number unknown; a limit bounds it. */
function timesOf(task: Cursor, use: Use): Use {
  const iterator = getIn(task, 'parameterIterator') ?? getIn(task, 'artifactIterator');
  const isConditional = getIn(task, 'triggerPolicy', 'condition') !== undefined;
  if (iterator === undefined) return isConditional ? maybe(use) : use;
  const length = listLength(getIn(iterator, 'items', 'raw'));
  const limit = countIn(asText(getIn(task, 'iteratorPolicy', 'parallelismLimit')));
  return limitedTo(repeated(use, isConditional ? null : length), limit);
}

function executorPods(executor: Cursor): PodSetSource | undefined {
  const at = getIn(executor, 'container');
  if (at === undefined) return undefined;
  const container = lowerContainer(at, 'app', keyOf(executor));
  const source = { name: keyOf(executor), pod: at, metadata: undefined, replicas: undefined, pods: exactly(null) };
  const devices = acceleratorOf(getIn(at, 'resources', 'accelerator'));
  const containers = [container];
  return devices === undefined ? { ...source, containers } : { ...source, containers, implicitDevices: [devices] };
}

/** `accelerator` has a count and a type: a resource name, or on Vertex AI a card. Later versions add `resource` to both names. */
function acceleratorOf(accelerator: Cursor | undefined): ImplicitDevices | undefined {
  const type = getIn(accelerator, 'resourceType') ?? getIn(accelerator, 'type');
  const count = getIn(accelerator, 'resourceCount') ?? getIn(accelerator, 'count');
  const name = asText(type);
  if (name === undefined || count === undefined) return undefined;
  const known = acceleratorResource(name);
  const models = known === undefined ? gpusNamed(name) : [];
  const resource = known === undefined && models[0]?.vendor === 'nvidia' ? 'nvidia.com/gpu' : undefined;
  return {
    requested:
      known === undefined && resource === undefined
        ? { kind: 'field', system: 'field', name }
        : byName(resource ?? name),
    at: count,
    form: known?.form ?? 'whole',
    vendor: known?.vendor ?? models[0]?.vendor ?? null,
    // A parameter of the pipeline is `{{$.inputs...}}`.
    perPod: countIn(asText(count)),
    each: 1,
    ...(models.length > 0 && { models, modelFrom: 'resource-name' as const }),
  };
}
