import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asNumber, asText, entries, getIn, items, keyOf, rootCursor } from '../../yaml/cursor.ts';
import type { YamlNode } from '../../yaml/node.ts';
import { parseYaml } from '../../yaml/parse.ts';
import { tableOf } from '../../yaml/table.ts';
import { type Condition, conditionsIn } from './selector.ts';

/** The names under which kustomize looks for its file in a folder. */
export const kustomizationNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'] as const;

/** The fields of a kustomization that change the objects that run. */
export interface Kustomization {
  /** Files and folders of objects, as written. */
  readonly resources: readonly string[];
  /** Folders whose patches also apply to these objects. */
  readonly components: readonly string[];
  readonly patches: readonly Patch[];
  readonly replicas: readonly { readonly name: string; readonly count: YamlNode }[];
  readonly images: readonly NewImage[];
  readonly labels: readonly NewLabels[];
  readonly namePrefix: string;
  readonly nameSuffix: string;
  readonly namespace: string | undefined;
  readonly replacements: readonly Replacement[];
}

/** What is copied from a field of one object to fields of others. */
export interface Replacement {
  readonly source: { readonly kind?: string; readonly name?: string; readonly fieldPath: string };
  readonly targets: readonly {
    readonly kind?: string;
    readonly name?: string;
    readonly fieldPaths: readonly string[];
  }[];
}

/** An entry of `images`: what replaces an image's name, tag or digest. */
export interface NewImage {
  readonly name: string;
  readonly newName?: string;
  readonly newTag?: string;
  readonly digest?: string;
}

/** Labels that all objects get. */
export interface NewLabels {
  readonly pairs: YamlNode;
  /** Pod templates also get the labels. */
  readonly inTemplates: boolean;
}

/** A patch, inline or in a file. */
export interface Patch {
  /** The file, as written; undefined for an inline patch. */
  readonly path: string | undefined;
  readonly text: string | undefined;
  readonly target: PatchTarget | undefined;
}

/** The objects to which a patch applies; an undefined field matches all. */
export interface PatchTarget {
  readonly group: string | undefined;
  readonly kind: string | undefined;
  /** A regular expression for the whole name. */
  readonly name: string | undefined;
  /** The target has a selector that cannot be evaluated. */
  readonly selected: boolean;
  /** The labels and the annotations that it requires. */
  readonly labels?: readonly Condition[];
  readonly annotations?: readonly Condition[];
}

/** The lists of files and folders, also under names that kustomize rejects: only one thing can be meant. */
const resourceFields = ['resources', 'bases', 'resource', 'base'];

/** https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/ */
export function readKustomization(text: string): Kustomization | undefined {
  const [document] = parseYaml(text).documents;
  return document?.root?.kind === 'map' ? kustomizationAt(rootCursor(document.root)) : undefined;
}

export function kustomizationAt(root: Cursor): Kustomization {
  const listed = (key: string) => {
    const value = getIn(root, key);
    // Without the brackets of a list, one path is meant.
    const all = value?.node.kind === 'scalar' ? [value] : items(value);
    return all.flatMap((item) => asText(item) ?? []);
  };
  return {
    resources: resourceFields.flatMap(listed),
    components: listed('components'),
    patches: [
      // Generators run before all patches.
      ...items(getIn(root, 'configMapGenerator')).flatMap(changedConfigMap),
      ...listed('patchesStrategicMerge').map((patch) =>
        patchOf(patch.includes('\n') ? undefined : patch, patch, undefined),
      ),
      ...[...items(getIn(root, 'patches')), ...items(getIn(root, 'patchesJson6902'))].map((patch) =>
        patchOf(asText(getIn(patch, 'path')), asText(getIn(patch, 'patch')), targetOf(getIn(patch, 'target'))),
      ),
    ],
    replicas: items(getIn(root, 'replicas')).flatMap((replica) => {
      const name = asText(getIn(replica, 'name'));
      const count = getIn(replica, 'count');
      return name === undefined || count === undefined || asNumber(count) === undefined
        ? []
        : [{ name, count: count.node }];
    }),
    images: items(getIn(root, 'images')).flatMap(imageOf),
    labels: [
      ...items(getIn(root, 'labels')).flatMap((entry) => {
        const inTemplates = ['includeTemplates', 'includeSelectors'].some(
          (key) => asBoolean(getIn(entry, key)) === true,
        );
        return labelsOf(getIn(entry, 'pairs'), inTemplates);
      }),
      ...labelsOf(getIn(root, 'commonLabels'), true),
    ],
    namePrefix: asText(getIn(root, 'namePrefix')) ?? '',
    nameSuffix: asText(getIn(root, 'nameSuffix')) ?? '',
    namespace: asText(getIn(root, 'namespace')) || undefined,
    replacements: items(getIn(root, 'replacements')).flatMap(replacementOf),
  };
}

/** A replacement in the file itself. Parts of a text, and targets with exceptions, are left as they are. */
function replacementOf(at: Cursor): readonly Replacement[] {
  const source = getIn(at, 'source');
  if (source === undefined || getIn(source, 'options') !== undefined || !isSimple(source)) return [];
  const targets = items(getIn(at, 'targets')).flatMap((target) => {
    const select = getIn(target, 'select');
    const isWhole = getIn(target, 'options', 'delimiter') === undefined && getIn(target, 'reject') === undefined;
    const isPlain = isWhole && select !== undefined && isSimple(select);
    const fieldPaths = items(getIn(target, 'fieldPaths')).flatMap((path) => asText(path) ?? []);
    return isPlain ? [{ ...selectedIn(select), fieldPaths }] : [];
  });
  return [
    { source: { ...selectedIn(source), fieldPath: asText(getIn(source, 'fieldPath')) ?? 'metadata.name' }, targets },
  ];
}

/** Whether only a kind and a name select objects: labels and namespaces are not read. */
function isSimple(select: Cursor): boolean {
  return entries(select).every((entry) => /^(?:kind|name|group|version|fieldPath)$/.test(keyOf(entry)));
}

function selectedIn(at: Cursor): { readonly kind?: string; readonly name?: string } {
  const [kind, name] = ['kind', 'name'].map((key) => asText(getIn(at, key)));
  return { ...(kind !== undefined && { kind }), ...(name !== undefined && { name }) };
}

function imageOf(image: Cursor): readonly NewImage[] {
  const name = asText(getIn(image, 'name'));
  if (name === undefined) return [];
  const [newName, newTag, digest] = ['newName', 'newTag', 'digest'].map((key) => asText(getIn(image, key)));
  return [
    {
      name,
      ...(newName !== undefined && { newName }),
      ...(newTag !== undefined && { newTag }),
      ...(digest !== undefined && { digest }),
    },
  ];
}

function labelsOf(pairs: Cursor | undefined, inTemplates: boolean): readonly NewLabels[] {
  return pairs?.node.kind === 'map' ? [{ pairs: pairs.node, inTemplates }] : [];
}

function patchOf(path: string | undefined, text: string | undefined, target: PatchTarget | undefined): Patch {
  return { path, text: path === undefined ? text : undefined, target };
}

/** What a generator changes in a ConfigMap of the resources, as a patch. With files, which are not read, its data is unknown. */
function changedConfigMap(generator: Cursor): readonly Patch[] {
  const behavior = asText(getIn(generator, 'behavior'));
  const name = asText(getIn(generator, 'name'));
  if (name === undefined || (behavior !== 'merge' && behavior !== 'replace')) return [];
  const hasFiles = ['files', 'envs', 'env'].some((key) => getIn(generator, key) !== undefined);
  const literals = items(getIn(generator, 'literals')).map((one): [string, string] => {
    const [key = '', ...value] = (asText(one) ?? '').split('=');
    return [key, value.join('=').replace(/^(['"])(.*)\1$/, '$2')];
  });
  const replaced = behavior === 'replace' ? [['$patch', 'replace'] as const] : [];
  const data = hasFiles ? null : tableOf([...replaced, ...literals]);
  const target = { group: '', kind: 'ConfigMap', name, selected: false };
  return [patchOf(undefined, JSON.stringify({ data }), target)];
}

/** The objects that a `target` selects; undefined without one. */
export function targetOf(target: Cursor | undefined): PatchTarget | undefined {
  if (target === undefined) return undefined;
  const written = ['labelSelector', 'annotationSelector'].map((key) => getIn(target, key));
  const [labels, annotations] = written.map((at) => at && conditionsIn(asText(at) ?? ''));
  const found = [labels, annotations].filter((one) => one !== undefined);
  return {
    group: asText(getIn(target, 'group')),
    kind: asText(getIn(target, 'kind')),
    name: asText(getIn(target, 'name')),
    selected: found.length < written.filter((at) => at !== undefined).length,
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  };
}
