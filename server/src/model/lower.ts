import { type Cursor, getIn, hasLostLineAround, isIncomplete, items, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { namesAccelerators } from './accelerators.ts';
import { releasesOfTasks } from './ansible-releases.ts';
import { runsPerNode } from './charts/apps.ts';
import { podClaims } from './claims.ts';
import { withCloudSign } from './cloud-signs.ts';
import { withConfigEnv } from './config-env.ts';
import { type CrossReferences, noCrossReferences } from './cross-references.ts';
import { lowerPodAccelerators, type RequestingContainer } from './devices.ts';
import { documentManifests } from './document-manifests.ts';
import { annotatedFractions, type ImplicitDevices } from './implicit-devices.ts';
import { inheritParts } from './inherited.ts';
import { type InlineValues, inlineValues } from './inline-values.ts';
import { lowerByShape } from './kinds/by-shape.ts';
import { kindEntry, kindOf } from './kinds/index.ts';
import type { KindLowering, PodSetSource } from './kinds/kind.ts';
import { exactly } from './kinds/pod-sets.ts';
import { modelsOfMachines } from './machine-terms.ts';
import { groupOf, lowerStrings } from './manifest.ts';
import { misspellsResource } from './misspelled-resource.ts';
import { modelHints } from './model-hints.ts';
import { modelsInMarks, type NamedModels } from './named-models.ts';
import { onDisk, withStorage } from './node-disk.ts';
import { choicesOn, gpuOfPool, nodePoolsOf, nodesOfPools, optionsInPool, poolsOfFlavors } from './node-pools.ts';
import { affinityTerms, inBoth, lowerNodeTerms, type NodeRequirement } from './node-terms.ts';
import { flavorsOfQueue, nodesOfOthers, unknownNodes } from './nodes-of-others.ts';
import type { ModelOptions } from './options.ts';
import { onePod, perRun } from './per-unit.ts';
import { lowerPlacement, queuedCapacity } from './placement.ts';
import {
  lowerAvoided,
  lowerContainers,
  lowerSelectors,
  lowerTolerations,
  lowerVolumes,
  selectorsIn,
  selectorsInTerms,
  text,
} from './pod.ts';
import { podNeeds } from './pod-needs.ts';
import type { Inherited } from './referenced.ts';
import { type FoundRole, roleOf } from './role.ts';
import { scaled } from './scaled.ts';
import { withScripts } from './scripts.ts';
import { withUniqueNames } from './unique-names.ts';
import type { ValuesBlock } from './values.ts';
import { blocksOf, mayBeValues, valuesBlocks, valuesKind } from './values.ts';
import type { Manifest, Placement, PodSet, Role, Selector, Workload } from './workload.ts';

/**
 * The objects of a document and the workloads among them. Never throws; skips what it cannot read.
 * @param crossReferences lookups of what the document references in others
 */
export function lowerDocument(
  document: YamlDocument,
  options: ModelOptions,
  crossReferences: CrossReferences = noCrossReferences,
): { readonly manifests: readonly Manifest[]; readonly workloads: readonly Workload[] } {
  const manifests = documentManifests(document);
  const context = { options, crossReferences };
  const root = document.root === null ? undefined : rootCursor(document.root);
  if (root !== undefined && mayBeValues(root)) {
    const place = { release: null, namespace: null };
    const described = blocksOf(document, root).map((block) => lowerValues(block, place, document, context));
    return {
      manifests,
      workloads: [...described, ...manifests.flatMap((one) => lowerManifest(one, options, crossReferences) ?? [])],
    };
  }
  const inObject = ({ values, chart, isWhole, isGenerated, ...place }: InlineValues) =>
    valuesBlocks(values, { chart })
      .map((block) => (isGenerated || (!isWhole && block.podSet.replicas === undefined) ? ofUnknownSize(block) : block))
      .map((block) => lowerValues(block, place, document, context));
  const workloads = manifests.flatMap((manifest) => [
    ...[lowerManifest(manifest, options, crossReferences) ?? []].flat(),
    ...inlineValues(manifest).flatMap(inObject),
  ]);
  const ofTasks = root === undefined ? [] : releasesOfTasks(root).flatMap(inObject);
  return { manifests, workloads: [...workloads, ...ofTasks] };
}

function ofUnknownSize(block: ValuesBlock): ValuesBlock {
  return { ...block, podSet: { ...block.podSet, pods: exactly(null) } };
}

/** Only a known chart tells how many pods it makes of its values; others count as a definition and are priced per replica. */
function lowerValues(
  { path, root, podSet, counted, released, role, wholeResources }: ValuesBlock,
  { release, namespace, kind = valuesKind }: Pick<InlineValues, 'release' | 'namespace' | 'kind'>,
  document: YamlDocument,
  context: LoweringContext,
): Workload {
  const names = [release ?? '', path].filter((name) => name !== '');
  const manifest = {
    document,
    root,
    apiVersion: '',
    kind,
    name: names.length === 0 ? null : names.join(': '),
    namespace,
    labels: [],
    annotations: [],
  };
  const lowered = { podSets: [podSet], retries: null, scaling: null, partial: true };
  const workload = {
    ...lowerWorkload(manifest, lowered, counted ? role : 'definition', context),
    ...(wholeResources && { wholeResources }),
  };
  if (counted)
    return runsPerNode(root) && namesAccelerators(workload)
      ? { ...workload, replica: onePod(workload, 'node') }
      : workload;
  const replica = { ...onePod(workload, 'replica'), role: role ?? 'unknown' };
  if (released === undefined || !namesAccelerators(workload)) return { ...workload, replica };
  const running = { ...lowered, podSets: [{ ...podSet, pods: released }] };
  const one = lowerWorkload(manifest, running, role, context);
  return { ...workload, replica: { ...replica, release: one }, release: one };
}

/** What one object will run; undefined if it runs nothing. */
export function lowerManifest(
  manifest: Manifest,
  options: ModelOptions,
  crossReferences: CrossReferences = noCrossReferences,
): Workload | undefined {
  const { root, annotations, kind, apiVersion, namespace } = manifest;
  const context = { options, crossReferences };
  const entry = kindEntry(groupOf(apiVersion), kind);
  if (entry !== undefined) {
    const lowered = entry.lower({ kind, apiVersion, root, namespace, annotations, options, crossReferences });
    const workload = scaled(lowerWorkload(manifest, lowered, entry.role ?? lowered.role, context), crossReferences);
    if (entry.runsAsWritten !== true && (kind !== 'DaemonSet' || !namesAccelerators(workload))) return workload;
    const run = lowerWorkload(manifest, lowered, lowered.role, context);
    if (entry.runsAsWritten === true) return { ...workload, run, ...perRun(run) };
    // Infrastructure lets others use the devices of its node. The number of nodes is unknown, but not what each of them costs.
    return { ...run, replica: onePod(run, 'node') };
  }
  const guessed = lowerByShape(manifest, context);
  if (guessed === undefined) return undefined;
  const workload = lowerWorkload(manifest, guessed, guessed.role, context);
  // Without accelerators, a guess is useless.
  const uses = namesAccelerators(workload) || workload.podSets.some(misspellsResource);
  return uses ? { ...workload, byShape: true } : undefined;
}

interface LoweringContext {
  readonly options: ModelOptions;
  readonly crossReferences: CrossReferences;
}

function lowerWorkload(
  manifest: Manifest,
  lowered: KindLowering,
  role: Role | undefined,
  context: LoweringContext,
): Workload {
  const defines = role === 'definition';
  const isUncounted = defines || manifest.created === 'later';
  const podSets = withUniqueNames(lowered.podSets).map((source) =>
    lowerPodSet(isUncounted ? { ...source, pods: exactly(null) } : source, manifest, context),
  );
  const found = role === undefined ? roleOf(manifest, podSets) : byKind(role, manifest);
  return {
    manifest,
    apiVersion: manifest.apiVersion,
    kind: manifest.kind,
    name: manifest.name,
    namespace: manifest.namespace,
    role: found.role,
    roleConfidence: found.confidence,
    roleFrom: found.from,
    podSets,
    partial: defines || manifest.isPatch === true || lowered.partial || podSets.some(isPartial),
    byShape: false,
    retries: lowered.retries,
    scaling: lowered.scaling,
    scaledBy: null,
  };
}

function byKind(role: Role, { kind }: Manifest): FoundRole {
  return { role, confidence: 'certain', from: `kind ${kind}` };
}

/** The accelerator resources of which a pod requests some. */
function requestedNames(containers: readonly RequestingContainer[]): readonly string[] {
  const requests = containers.flatMap(({ accelerators }) => accelerators);
  return [...new Set(requests.flatMap(({ resource, count }) => (count === 0 ? [] : [resource])))].sort();
}

function lowerPodSet(source: PodSetSource, manifest: Manifest, { options, crossReferences }: LoweringContext): PodSet {
  const { pod } = source;
  const { namespace } = manifest;
  const volumes = [...lowerVolumes(pod), ...(source.volumes ?? [])];
  const containers = (source.containers ?? lowerContainers(pod)).map((container) => ({
    ...withConfigEnv(withScripts(container, volumes, namespace, crossReferences), namespace, crossReferences),
    modelConfig: (name: string) => crossReferences.modelConfig(name),
  }));
  const selectors = [
    ...lowerSelectors(pod),
    ...selectorsIn(source.nodeSelector).concat(source.selectors ?? []),
    ...selectorsInTerms(source.nodeSelectorTerms),
  ];
  const inherited = inheritParts(source.inheritedPods, containers, selectors);
  const typed = source.instanceType === undefined ? selectors : [...selectors, onInstanceType(source.instanceType)];
  const nodes = [...typed, ...inherited.selectors];
  const added = nodes.filter((selector) => !selectors.includes(selector));
  const ownTerms = lowerNodeTerms(pod, [...added, ...(source.selectors ?? [])].map(asRequirement), source);
  const terms = affinityTerms(pod).length > 0 ? ownTerms : inBoth(ownTerms, inherited.terms);
  const avoided = lowerAvoided(pod);
  const labels = lowerStrings(getIn(source.metadata, 'labels'));
  const ofTemplate = lowerStrings(getIn(source.metadata, 'annotations'));
  const annotations =
    kindOf(manifest).passesAnnotations === true ? [...ofTemplate, ...manifest.annotations] : ofTemplate;
  const tolerations = lowerTolerations(source.tolerated ?? pod);
  const allowed = tolerations.length > 0 ? tolerations : inherited.tolerations;
  const resources = requestedNames([...containers, ...inherited.containers]);
  const outer = [...lowerStrings(getIn(source.madeMetadata, 'labels')), ...(manifest.outerLabels ?? [])];
  const marks = [...labels, ...annotations, ...manifest.labels, ...manifest.annotations, ...outer];
  const selected = nodePoolsOf([...selectors, ...inherited.selectors], options, { tolerations: allowed, resources });
  const fitting =
    selected.length > 0 || options.nodePools.length === 0
      ? selected
      : poolsOfFlavors(flavorsOfQueue({ marks, namespace }, crossReferences), options.nodePools);
  const pool = fitting.length === 1 ? fitting[0] : undefined;
  const inPool = optionsInPool(options, pool);
  const needs = podNeeds(containers, pod, crossReferences, annotations, source.needing ?? inherited.needing);
  const implicit = [
    // Fractions exclude whole GPUs: the scheduler rejects both together, and elsewhere these annotations have other meanings.
    ...(containers.some(namesAccelerators) ? [] : annotatedFractions(annotations)),
    ...podClaims(source.claims ?? items(getIn(pod, 'resourceClaims')), source.pods.min, {
      find: (kind, name) => crossReferences.claim(kind, namespace, name),
      users: (name) => crossReferences.claimUsers(namespace, name),
    }),
    ...(source.claimed ?? []),
  ];
  const requestsDevices =
    [...containers, ...inherited.containers].some(namesAccelerators) ||
    implicit.length > 0 ||
    source.implicitDevices !== undefined;
  // The config takes precedence.
  const isOpen = pool === undefined && requestsDevices;
  const others = isOpen
    ? (nodesOfPools(fitting, nodes, pod) ??
      nodesOfOthers(nodes, { pod, terms, marks, namespace, tolerations: allowed, resources }, crossReferences))
    : unknownNodes;
  const ofPool = onDisk(pool?.diskGiB == null ? null : { giB: pool.diskGiB, local: 'no' });
  const nodeTerms = inBoth(terms, others.terms).map((term) => [...term, ...ofPool]);
  const stored = withStorage(nodeTerms, needs.storageGiB);
  const { choices } = others;
  const placementOn = (more: readonly Selector[], { terms: on, fit: storage }: ReturnType<typeof withStorage>) =>
    lowerPlacement(
      [...nodes.filter(({ key }) => !more.some((one) => one.key === key)), ...more],
      inPool,
      avoided,
      pool,
      { terms: on, needs, storage, ...queuedCapacity(annotations), ...source.placement },
    );
  const parts = { root: manifest.root, pod, namespace, labels, marks, tolerations, containers, volumes };
  // Thousands of claims share the hints of their pod.
  let hints: readonly NamedModels[] | undefined;
  const signed = (placement: Placement) =>
    requestsDevices ? withCloudSign(placement, parts, crossReferences) : placement;
  return {
    name: source.name,
    pods: hasLostLineAround(pod) ? exactly(null) : source.pods,
    replicas: source.replicas,
    pod,
    labels,
    annotations,
    containers,
    accelerators: inherited.withLocation(
      lowerPodAccelerators(
        {
          containers: [...containers, ...inherited.containers],
          replacing: source.implicitDevices,
          additional: implicit,
          nodeLabels: [...others.labels, ...others.sharing],
          isDescribed: others.labels.length > 0 || (pool !== undefined && gpuOfPool(pool) !== undefined),
          isStated: pool?.gpu != null || choices !== undefined,
        },
        nodes,
        inPool,
        {
          stated: () => [
            ...modelsInMarks(marks),
            ...others.models,
            { candidates: modelsOfMachines(terms), from: 'instance-type' },
          ],
          hints: () =>
            (hints ??= [
              ...modelHints({
                ...{ manifest, name: source.name, pod, selectors: nodes, tolerations, containers },
                header: () => crossReferences.fileHeader(),
              }),
              ...others.hints,
            ]),
        },
      ),
    ),
    selectors,
    avoided,
    tolerations,
    volumes,
    restartPolicy: text(source.restartPolicy ?? getIn(pod, 'restartPolicy')),
    placement: signed({
      ...placementOn(others.labels, others.isLive === true ? { ...stored, fit: { kind: 'checked' } } : stored),
      ...choicesOn(choices, terms, needs.storageGiB, placementOn),
    }),
    inherited: [
      ...inherited.inherited,
      ...(source.inherited ?? []),
      ...inheritedDevices(implicit),
      ...others.inherited,
    ],
    sharding: source.sharding,
  };
}

/** The facts inherited from claims in other files. */
function inheritedDevices(implicitDevices: readonly ImplicitDevices[]): readonly Inherited[] {
  return implicitDevices.flatMap(({ from }) => (from === undefined ? [] : [{ fact: 'devices', from }]));
}

/** The node selector for an instance type named by a kind. It is not among the pod's selectors, so rules do not see it. */
function onInstanceType(type: NonNullable<PodSetSource['instanceType']>): Selector {
  return { key: 'node.kubernetes.io/instance-type', values: [type], from: 'nodeSelector', at: type.at };
}

function asRequirement({ key, values }: Selector): NodeRequirement {
  return { key, operator: 'In', values: values.map(({ value }) => value) };
}

/** The API server rejects a container without an image, so the set is from a patch (KServe and other controllers fill in their own). */
function isPartial(podSet: PodSet): boolean {
  if (podSet.containers.length === 0 || isIncomplete(podSet.pod)) return true;
  return podSet.containers.some(
    (container) => isWritten(container.at) && container.image === undefined && !isModel(container.at),
  );
}

function isWritten(container: Cursor): boolean {
  return container.node.kind === 'map';
}

/** Whether a container is KServe's `model:`, which is under a key instead of in a list. */
function isModel(container: Cursor): boolean {
  return typeof container.step === 'string';
}
