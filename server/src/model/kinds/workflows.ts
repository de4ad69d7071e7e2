import { acceleratorResource } from '../../catalog/index.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, getIn, isTemplated, items } from '../../yaml/cursor.ts';
import { type Table, tableOf } from '../../yaml/table.ts';
import { namesAccelerators } from '../accelerators.ts';
import { countIn } from '../count.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { selectsNodes } from '../inherited.ts';
import { countOf, lowerContainer, lowerContainers, lowerCount, text } from '../pod.ts';
import { lowerQuantity } from '../quantity.ts';
import { byName } from '../requested-resource.ts';
import type { Container } from '../workload.ts';
import type { KindEntry, KindInput, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { between, exactly, retriesAt, written } from './pod-sets.ts';
import { sparkNeeds } from './spark-needs.ts';
import {
  argoSteps,
  devicesPerPod,
  type OtherSteps,
  podsOfSteps,
  templatesOfOthers,
  usesOfOthers,
} from './step-references.ts';
import { concurrentRuns } from './workflow-runs.ts';

/** Engines that create pods step by step: Argo Workflows and Spark. */
export const workflowKinds: readonly KindEntry[] = [
  {
    group: 'argoproj.io',
    kinds: ['Workflow'],
    words: ['templateRef'],
    runsSteps: true,
    lower: (object) => lowerWorkflow(getIn(object.root, 'spec'), object),
  },
  {
    group: 'argoproj.io',
    kinds: ['CronWorkflow'],
    words: [],
    runsSteps: true,
    lower: (object) => lowerWorkflow(getIn(object.root, 'spec', 'workflowSpec'), object),
  },
  {
    group: 'argoproj.io',
    kinds: ['WorkflowTemplate'],
    words: [],
    role: 'definition',
    runsAsWritten: true,
    named: true,
    lower: (object) => lowerWorkflow(getIn(object.root, 'spec'), object),
  },
  {
    group: 'argoproj.io',
    kinds: ['ClusterWorkflowTemplate'],
    words: [],
    role: 'definition',
    runsAsWritten: true,
    named: true,
    cluster: true,
    lower: (object) => lowerWorkflow(getIn(object.root, 'spec'), object),
  },
  {
    group: 'sparkoperator.k8s.io',
    kinds: ['SparkApplication'],
    words: [],
    role: 'batch',
    lower: ({ root }) => lowerSpark(getIn(root, 'spec')),
  },
  {
    group: 'sparkoperator.k8s.io',
    kinds: ['ScheduledSparkApplication'],
    words: [],
    role: 'batch',
    lower: ({ root }) => lowerSpark(getIn(root, 'spec', 'template')),
  },
];

/**
 * One pod per run of a template, as often as the steps run it at once. Templates may be those of other objects.
 * https://argo-workflows.readthedocs.io/en/latest/fields/
 */
function lowerWorkflow(spec: Cursor | undefined, object: KindInput): KindLowering {
  const whole = getIn(spec, 'workflowTemplateRef');
  const started = whole && argoSteps(whole, asText(getIn(spec, 'entrypoint')) ?? '', object);
  if (started !== undefined) {
    const isLimited = getIn(spec, 'parallelism') !== undefined;
    const podSets = onNodesOfTemplate(spec, started, podsOfSteps(started)).map((set) =>
      isLimited ? { ...set, pods: between(null, set.pods.max) } : set,
    );
    return { podSets: onNodesOf(spec, object, podSets), retries: null, scaling: null, partial: true };
  }
  const sources = templateSources(spec);
  const others = templatesOfOthers(spec, object);
  const borrowed = others.flatMap(({ found }) => podsOfSteps(found));
  const all = [...sources, ...borrowed];
  const runs = concurrentRuns(spec, all.map(devicesPerPod), { others: usesOfOthers(others, sources.length) });
  const podSets = all.flatMap((source, index) => (source ? [{ ...source, pods: runs[index] ?? exactly(null) }] : []));
  const limits = items(getIn(spec, 'templates')).map((template) => getIn(template, 'retryStrategy', 'limit'));
  return {
    podSets: onNodesOf(spec, object, podSets),
    retries: retriesIn(limits.find((limit) => limit !== undefined)),
    scaling: null,
    partial: false,
  };
}

/** The limit is a number or a text with a number. */
function retriesIn(limit: Cursor | undefined): KindLowering['retries'] {
  const text = asText(limit) ?? '';
  return /^\d{1,6}$/.test(text) && !isTemplated(limit) ? { limit: Number(text), at: limit } : retriesAt(limit, 0);
}

/**
 * The pods on the nodes of the whole workflow: each field applies to templates without it. That of a definition applies only if it is started as a
 * whole, which is unknown. https://argo-workflows.readthedocs.io/en/latest/fields/#workflowspec
 */
function onNodesOf(
  spec: Cursor | undefined,
  { kind }: KindInput,
  podSets: readonly PodSetSource[],
): readonly PodSetSource[] {
  if (kind !== 'Workflow' && kind !== 'CronWorkflow') return podSets;
  // The field of a template of steps applies to what they run.
  const templates = items(getIn(spec, 'templates')).filter((template) => templateContainers(template).length === 0);
  const whole = (field: string) => templates.every((template) => getIn(template, field) === undefined);
  return podSets.map((set) => {
    const isOther = set.inheritedPods !== undefined && selectsNodes(set.inheritedPods.pods);
    const outer = (field: string) =>
      isOther || getIn(set.pod, field) !== undefined || !whole(field) ? undefined : getIn(spec, field);
    const nodeSelector = outer('nodeSelector');
    const nodeSelectorTerms = getIn(outer('affinity'), ...requiredTerms);
    const tolerated = outer('tolerations') && spec;
    return {
      ...set,
      ...(nodeSelector && { nodeSelector }),
      ...(nodeSelectorTerms && { nodeSelectorTerms }),
      ...(tolerated && { tolerated }),
    };
  });
}

/** The pods on the nodes of the definition that a workflow starts as a whole: for templates without nodes, unless the workflow has its own. */
function onNodesOfTemplate(
  spec: Cursor | undefined,
  { from }: OtherSteps,
  podSets: readonly PodSetSource[],
): readonly PodSetSource[] {
  const { whole } = from.facts;
  if (whole === undefined || getIn(spec, 'nodeSelector') !== undefined || getIn(spec, 'affinity') !== undefined)
    return podSets;
  return podSets.map((set) => {
    const { inheritedPods } = set;
    if (inheritedPods === undefined || selectsNodes(inheritedPods.pods)) return set;
    return { ...set, inheritedPods: { ...inheritedPods, pods: { ...inheritedPods.pods, ...whole } } };
  });
}

const requiredTerms = ['nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'] as const;

/** The pods of each template; undefined for templates of steps. */
function templateSources(spec: Cursor | undefined): readonly (PodSetSource | undefined)[] {
  return items(getIn(spec, 'templates')).map((template): PodSetSource | undefined => {
    const containers = templateContainers(template);
    if (containers.length === 0) return undefined;
    const name = asText(getIn(template, 'name')) ?? 'template';
    const pods = exactly(null);
    const metadata = getIn(template, 'metadata') ?? getIn(spec, 'podMetadata');
    const source: PodSetSource = { name, pod: template, metadata, replicas: undefined, pods, containers };
    const patched = containers.some(namesAccelerators)
      ? []
      : patchedDevices(getIn(template, 'podSpecPatch') ?? getIn(spec, 'podSpecPatch'));
    return patched.length === 0 ? source : { ...source, implicitDevices: patched };
  });
}

/**
 * The pods that each template of a spec runs at once, by its name; the empty name is the entrypoint. In the order of the pod sets of its object.
 */
export function runsByTemplate(spec: Cursor | undefined): Table<readonly PodCount[]> {
  const sources = templateSources(spec);
  const weights = sources.map(devicesPerPod);
  const runs = (entry?: string) =>
    concurrentRuns(spec, weights, entry === undefined ? {} : { entry }).filter(
      (_, index) => sources[index] !== undefined,
    );
  const names = items(getIn(spec, 'templates'))
    .slice(0, maxNamed)
    .flatMap((one) => asText(getIn(one, 'name')) ?? []);
  return tableOf([...names.map((name): [string, readonly PodCount[]] => [name, runs(name)]), ['', runs()]]);
}

/** More templates of one object are not offered by name. */
const maxNamed = 60;

/** The accelerators in a patch of the pod, which is YAML or JSON in a string. A parameter is an unknown number. */
function patchedDevices(patch: Cursor | undefined): readonly ImplicitDevices[] {
  const text = (asText(patch) ?? '').slice(0, maxPatch);
  const found = new Map<string, ImplicitDevices>();
  for (const [, name = '', amount = ''] of text.matchAll(
    /(?<![\w.-])([\w.-]{1,200}\/[\w.-]{1,200})["']?\s{0,9}:\s{0,9}["']?([^\s"',}]+)/g,
  )) {
    const known = acceleratorResource(name);
    if (known !== undefined) found.set(name, devicesBy(name, patch, countIn(amount)));
  }
  return [...found.values()];
}

/** Patches are a few lines. */
const maxPatch = 20_000;

function devicesBy(name: string, at: Cursor | undefined, perPod: number | null): ImplicitDevices {
  const known = acceleratorResource(name);
  return { requested: byName(name), at, form: known?.form ?? 'whole', vendor: known?.vendor ?? null, perPod, each: 1 };
}

function templateContainers(template: Cursor): readonly Container[] {
  const main = getIn(template, 'container') ?? getIn(template, 'script');
  const set = items(getIn(template, 'containerSet', 'containers')).map((container) => lowerContainer(container, 'app'));
  if (main === undefined && set.length === 0) return [];
  const sidecars = items(getIn(template, 'sidecars')).map((sidecar) => lowerContainer(sidecar, 'app'));
  const init = lowerContainers(template).filter(({ type }) => type !== 'app');
  return [...init, ...(main === undefined ? [] : [mainOf(main)]), ...set, ...sidecars];
}

/** The main container; `source` is the script that its command runs. */
function mainOf(main: Cursor): Container {
  const container = lowerContainer(main, 'app', 'main');
  const source = text(getIn(main, 'source'));
  const program = container.command.at(-1);
  const runs = /(?:^|\/)(?:(?:ba|z|k|da)?sh|python[\d.]*)$/.test(program?.value ?? '');
  if (source === undefined || !runs) return container;
  return { ...container, command: [...container.command, { value: '-c', at: source.at }, source] };
}

/** https://github.com/kubeflow/spark-operator/blob/master/docs/api-docs.md */
function lowerSpark(spec: Cursor | undefined): KindLowering {
  const executor = getIn(spec, 'executor');
  const podSets = [
    ...sparkPods('driver', getIn(spec, 'driver'), spec, exactly(1)),
    ...sparkPods('executor', executor, spec, executors(spec), getIn(executor, 'instances')),
  ];
  const policy = getIn(spec, 'restartPolicy');
  const never = (asText(getIn(policy, 'type')) ?? 'Never') === 'Never';
  const retries = never
    ? { limit: 0, at: getIn(policy, 'type') }
    : retriesAt(getIn(policy, 'onFailureRetries'), Number.POSITIVE_INFINITY);
  return { podSets, retries, scaling: null, partial: spec === undefined };
}

/** The pods of a role, whose `gpu` has a resource name and a quantity. Otherwise Spark's own configuration sets them. */
function sparkPods(
  name: string,
  role: Cursor | undefined,
  spec: Cursor | undefined,
  pods: PodCount,
  replicas?: Cursor,
): readonly PodSetSource[] {
  if (role === undefined) return [];
  const gpu = getIn(role, 'gpu');
  const resource = asText(getIn(gpu, 'name'));
  const quantity = getIn(gpu, 'quantity');
  const implicitDevices =
    resource === undefined || quantity === undefined
      ? configuredDevices(spec, name)
      : [devicesBy(resource, gpu, countOf(lowerQuantity(quantity)))];
  const sidecars = items(getIn(role, 'sidecars')).map((sidecar) => lowerContainer(sidecar, 'app'));
  // Spark adds its fields to the first container of a template.
  const template = getIn(role, 'template', 'spec');
  const inTemplate = template === undefined ? [] : lowerContainers(template);
  const own = inTemplate.find(({ type }) => type === 'app') ?? lowerContainer(role, 'app', 'spark');
  const image = own.image ?? text(getIn(role, 'image') ?? getIn(spec, 'image'));
  const others = inTemplate.filter((one) => one !== own);
  const containers = [{ ...own, image }, ...others, ...sidecars];
  const isPlaced = getIn(role, 'nodeSelector') !== undefined || getIn(role, 'affinity') !== undefined;
  const [pod, metadata] =
    template === undefined || isPlaced ? [role, role] : [template, getIn(role, 'template', 'metadata')];
  return [
    {
      ...{ name, pod, metadata, replicas, pods, containers },
      ...(implicitDevices.length > 0 && { implicitDevices }),
      needing: sparkNeeds(role, spec),
    },
  ];
}

/** https://spark.apache.org/docs/latest/running-on-kubernetes.html#resource-allocation-and-configuration-overview */
function configuredDevices(spec: Cursor | undefined, role: string): readonly ImplicitDevices[] {
  const setting = (name: string) => getIn(spec, 'sparkConf', `spark.${role}.resource.gpu.${name}`);
  const [amount, vendor] = [setting('amount'), setting('vendor')];
  if (amount === undefined || vendor === undefined) return [];
  return [devicesBy(`${asText(vendor) ?? ''}/gpu`, amount, isTemplated(amount) ? null : countIn(asText(amount)))];
}

function executors(spec: Cursor | undefined): PodCount {
  const dynamic = getIn(spec, 'dynamicAllocation');
  if (asBoolean(getIn(dynamic, 'enabled')) !== true) {
    const instances = getIn(spec, 'executor', 'instances');
    const configured = getIn(spec, 'sparkConf', 'spark.executor.instances');
    if (instances !== undefined || configured === undefined) return written(instances, sparkDefault);
    return exactly(isTemplated(configured) ? null : countIn(asText(configured)));
  }
  const max = getIn(dynamic, 'maxExecutors');
  return between(lowerCount(getIn(dynamic, 'minExecutors'), 0), max === undefined ? null : lowerCount(max, 0));
}

/** `spark.executor.instances` if it is not set. https://spark.apache.org/docs/latest/configuration.html */
const sparkDefault = 2;
