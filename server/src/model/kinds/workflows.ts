import { acceleratorResource } from '../../catalog/index.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, getIn, isTemplated, items } from '../../yaml/cursor.ts';
import { namesAccelerators } from '../accelerators.ts';
import { countIn } from '../count.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { countOf, lowerContainer, lowerContainers, lowerCount, text } from '../pod.ts';
import { lowerQuantity } from '../quantity.ts';
import { byName } from '../requested-resource.ts';
import type { Container } from '../workload.ts';
import type { KindEntry, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { between, exactly, retriesAt, written } from './pod-sets.ts';

/** Engines that create pods step by step: Argo Workflows and Spark. */
export const workflowKinds: readonly KindEntry[] = [
  {
    group: 'argoproj.io',
    kinds: ['Workflow'],
    words: [],
    lower: ({ root }) => lowerWorkflow(getIn(root, 'spec')),
  },
  {
    group: 'argoproj.io',
    kinds: ['CronWorkflow'],
    words: [],
    lower: ({ root }) => lowerWorkflow(getIn(root, 'spec', 'workflowSpec')),
  },
  {
    group: 'argoproj.io',
    kinds: ['WorkflowTemplate', 'ClusterWorkflowTemplate'],
    words: [],
    role: 'definition',
    lower: ({ root }) => lowerWorkflow(getIn(root, 'spec')),
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
 * One pod per run of a template. The number of concurrent runs depends on the steps, so it is known only if the entrypoint's own template creates
 * the pod. https://argo-workflows.readthedocs.io/en/latest/fields/
 */
function lowerWorkflow(spec: Cursor | undefined): KindLowering {
  const entrypoint = asText(getIn(spec, 'entrypoint'));
  const podSets = items(getIn(spec, 'templates')).flatMap((template): readonly PodSetSource[] => {
    const containers = templateContainers(template);
    if (containers.length === 0) return [];
    const name = asText(getIn(template, 'name')) ?? 'template';
    const pods = exactly(name === entrypoint ? 1 : null);
    const metadata = getIn(template, 'metadata') ?? getIn(spec, 'podMetadata');
    const source: PodSetSource = { name, pod: template, metadata, replicas: undefined, pods, containers };
    const patched = containers.some(namesAccelerators)
      ? []
      : patchedDevices(getIn(template, 'podSpecPatch') ?? getIn(spec, 'podSpecPatch'));
    return [patched.length === 0 ? source : { ...source, implicitDevices: patched }];
  });
  const limits = items(getIn(spec, 'templates')).map((template) => getIn(template, 'retryStrategy', 'limit'));
  return {
    podSets,
    retries: retriesAt(
      limits.find((limit) => limit !== undefined),
      0,
    ),
    scaling: null,
    partial: false,
  };
}

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
  const shell = container.command.at(-1);
  if (source === undefined || shell === undefined || !/(?:^|\/)(?:ba|z|k|da)?sh$/.test(shell.value)) return container;
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
  const containers = [lowerContainer(role, 'app', 'spark'), ...sidecars];
  return [{ name, pod: role, metadata: role, replicas, pods, containers, implicitDevices }];
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
