import type { Cursor, Located } from '../yaml/cursor.ts';
import { asBoolean, asString, asText, entries, getIn, items, keyOf, rootCursor } from '../yaml/cursor.ts';
import { oncePerName } from '../yaml/lazy.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { partialNode } from '../yaml/partial.ts';
import { appliedObjects } from './ansible.ts';
import { once } from './once.ts';
import { type ObjectType, undeclaredName, undeclaredType } from './undeclared-objects.ts';
import type { Manifest } from './workload.ts';

/** The Kubernetes objects in a document: one, the items of a `kind: List`, or none if it is not an object. */
export const lowerManifests = once((document: YamlDocument): readonly Manifest[] => {
  if (document.root === null) return [];
  const root = rootCursor(document.root);
  return document.item ? items(root).flatMap((item) => manifestsAt(document, item)) : manifestsAt(document, root);
});

/** The objects at a place of a document. */
export function manifestsAt(document: YamlDocument, root: Cursor): readonly Manifest[] {
  const type = typeOf(root);
  if (type === undefined) return appliedIn(document, root);
  const { apiVersion, kind } = type;
  const wrapped = wrappedIn(apiVersion, kind, root);
  const inner = wrapped?.objects.flatMap((item) => manifestsAt(document, item));
  const made = wrapped?.created === 'later' ? inner?.map((one) => ({ ...one, created: 'later' }) as const) : inner;
  // A wrapper is also an object, with its own queue; a list is not.
  if (made !== undefined && kind !== 'AppWrapper') return made;
  const metadata = getIn(root, 'metadata');
  const namespace = asText(getIn(metadata, 'namespace')) ?? null;
  const labels = lowerStrings(getIn(metadata, 'labels'));
  const isHeld = asBoolean(getIn(root, 'spec', 'suspend')) === true;
  return [
    {
      document,
      root,
      apiVersion,
      kind,
      name: asText(getIn(metadata, 'name')) ?? asText(getIn(metadata, 'generateName')) ?? undeclaredName(root),
      namespace,
      labels,
      annotations: lowerStrings(getIn(metadata, 'annotations')),
    },
    ...(made ?? []).map((one) => ({
      ...one,
      namespace: one.namespace ?? namespace,
      outerLabels: labels,
      ...(isHeld && ({ isHeld } as const)),
    })),
  ];
}

/** The objects that the tasks of Ansible apply. */
function appliedIn(document: YamlDocument, root: Cursor): readonly Manifest[] {
  return appliedObjects(root).flatMap((one) => {
    const made = manifestsAt(document, one.root);
    return one.isRepeated ? made.map((manifest) => ({ ...manifest, created: 'later' as const })) : made;
  });
}

function typeOf(root: Cursor): ObjectType | undefined {
  const apiVersion = asString(getIn(root, 'apiVersion'));
  const kind = asString(getIn(root, 'kind'));
  if (apiVersion === undefined || kind === undefined) return undeclaredType(root);
  return { apiVersion: shared(apiVersion), kind: shared(kind) };
}

interface Wrapped {
  readonly objects: readonly Cursor[];
  /** A controller creates them later, any number of times. */
  readonly created?: 'later';
}

/** The objects in a list, a template or a wrapper; undefined for all other objects. */
function wrappedIn(apiVersion: string, kind: string, root: Cursor): Wrapped | undefined {
  const group = groupOf(apiVersion);
  if ((kind === 'List' && apiVersion === 'v1') || isTypedList(kind, root))
    return { objects: items(getIn(root, 'items')) };
  if (kind === 'AppWrapper' && group.startsWith('workload.codeflare.dev')) return { objects: inAppWrapper(root) };
  return wrappers.get(`${group}/${kind}`)?.(root);
}

const wrappers: ReadonlyMap<string, (root: Cursor) => Wrapped> = new Map<string, (root: Cursor) => Wrapped>([
  // An OpenShift template: its objects contain parameters as ${NAME}, of which prices use the defaults.
  ['template.openshift.io/Template', inTemplate],
  // As OpenShift 3 wrote it.
  ['/Template', inTemplate],
  // https://open-cluster-management.io/docs/concepts/work-distribution/manifestwork/
  ['work.open-cluster-management.io/ManifestWork', inWork],
  [
    'work.open-cluster-management.io/ManifestWorkReplicaSet',
    (root) => later(getIn(root, 'spec', 'manifestWorkTemplate', 'workload', 'manifests')),
  ],
  // https://open-cluster-management.io/docs/getting-started/integration/policy-controllers/policy-framework/
  [
    'policy.open-cluster-management.io/Policy',
    (root) => later(getIn(root, 'spec', 'policy-templates'), 'objectDefinition'),
  ],
  ['policy.open-cluster-management.io/ConfigurationPolicy', inPolicy],
  // https://karmada.io/docs/reference/karmada-api/work-resources/work-v1alpha1
  ['work.karmada.io/Work', inWork],
  // https://github.com/crossplane-contrib/provider-kubernetes
  ['kubernetes.crossplane.io/Object', (root) => ({ objects: present(getIn(root, 'spec', 'forProvider', 'manifest')) })],
  [
    'kubernetes.m.crossplane.io/Object',
    (root) => ({ objects: present(getIn(root, 'spec', 'forProvider', 'manifest')) }),
  ],
  // https://docs.crossplane.io/latest/composition/compositions/
  ['apiextensions.crossplane.io/Composition', (root) => later(getIn(root, 'spec', 'resources'), 'base')],
  // https://kro.run/docs/concepts/resource-group-definitions
  ['kro.run/ResourceGraphDefinition', (root) => later(getIn(root, 'spec', 'resources'), 'template')],
  // https://tekton.dev/docs/triggers/triggertemplates/
  ['triggers.tekton.dev/TriggerTemplate', (root) => later(getIn(root, 'spec', 'resourcetemplates'))],
  // https://argoproj.github.io/argo-events/sensors/triggers/k8s-object-trigger/
  ['argoproj.io/Sensor', (root) => later(getIn(root, 'spec', 'triggers'), 'template', 'k8s', 'source', 'resource')],
]);

function inTemplate(root: Cursor): Wrapped {
  return { objects: items(getIn(root, 'objects')) };
}

function inWork(root: Cursor): Wrapped {
  return { objects: items(getIn(root, 'spec', 'workload', 'manifests')) };
}

/** Objects that must exist. Those of `musthave` are merged into what is there, those of `mustnothave` are deleted. */
function inPolicy(root: Cursor): Wrapped {
  const objects = items(getIn(root, 'spec', 'object-templates')).flatMap((item) => {
    const object = getIn(item, 'objectDefinition');
    const rule = asString(getIn(item, 'complianceType'))?.toLowerCase();
    if (object === undefined || (rule !== 'musthave' && rule !== 'mustonlyhave')) return [];
    return rule === 'musthave' ? { ...object, node: partialNode(object.node) } : object;
  });
  return { objects, created: 'later' };
}

/** Whether an object is a list of objects of one kind: a DeploymentList. */
function isTypedList(kind: string, root: Cursor): boolean {
  if (!kind.endsWith('List')) return false;
  const objects = items(getIn(root, 'items'));
  return objects.length > 0 && objects.every((item) => asString(getIn(item, 'kind')) === kind.slice(0, -4));
}

function later(list: Cursor | undefined, ...path: readonly string[]): Wrapped {
  return { objects: items(list).flatMap((item) => getIn(item, ...path) ?? []), created: 'later' };
}

function present(cursor: Cursor | undefined): readonly Cursor[] {
  return cursor === undefined ? [] : [cursor];
}

function inAppWrapper(root: Cursor): readonly Cursor[] {
  const generic = items(getIn(root, 'spec', 'resources', 'GenericItems')).flatMap(
    (item) => getIn(item, 'generictemplate') ?? [],
  );
  return [...items(getIn(root, 'spec', 'components')).flatMap((item) => getIn(item, 'template') ?? []), ...generic];
}

/** The entries of a map of strings (labels, annotations); each cursor's step is the key. */
export function lowerStrings(map: Cursor | undefined): readonly Located<string>[] {
  return entries(map).map((entry) => ({ value: asText(entry) ?? '', at: entry }));
}

/** The value of a label or annotation. */
export function lookUp(strings: readonly Located<string>[], key: string): Located<string> | undefined {
  return strings.find((located) => keyOf(located.at) === key);
}

/** The group of an apiVersion: `apps` for apps/v1, the empty string for v1. */
export const groupOf = oncePerName((apiVersion) => {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
});

/** The same text for equal names, which then are found in tables by identity: each rule looks up the kind of each object. */
const shared = oncePerName((name) => name);
