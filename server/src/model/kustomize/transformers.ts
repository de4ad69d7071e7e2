import type { YamlNode, YamlScalar } from '../../yaml/node.ts';
import { nowhere } from '../../yaml/span.ts';
import type { Kustomization, NewImage } from './kustomization.ts';
import { external, mergeStrategic } from './merge.ts';

/**
 * What a kustomization does to an object after all of its patches: labels, replicas and images. Names are not changed: kustomize renames an
 * object and all that name it alike, so those that the files say still find each other.
 * @param names the names that the object has had
 */
export function transformed(root: YamlNode, kind: string, names: readonly string[], said: Kustomization): YamlNode {
  let made = root;
  for (const { pairs, inTemplates } of said.labels) {
    const labels = map('metadata', map('labels', external(pairs)));
    made = mergeStrategic(made, labels, true);
    if (inTemplates && hasTemplate(made)) made = mergeStrategic(made, map('spec', map('template', labels)), true);
  }
  for (const { name, count } of said.replicas) {
    if (!scaledKinds.has(kind) || !names.includes(name)) continue;
    made = mergeStrategic(made, map('spec', map('replicas', external(count))), true);
  }
  return said.images.length === 0 ? made : withImages(made, '', said.images);
}

/** The kinds whose `spec.replicas` kustomize sets. */
const scaledKinds: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet']);

function hasTemplate(root: YamlNode): boolean {
  const spec = root.kind === 'map' ? root.entries.find(({ key }) => key === 'spec')?.value : undefined;
  return spec?.kind === 'map' && spec.entries.some(({ key, value }) => key === 'template' && value.kind === 'map');
}

/** The images of all containers, wherever lists of them stand. */
function withImages(node: YamlNode, key: string, images: readonly NewImage[]): YamlNode {
  if (node.kind === 'scalar') return node;
  if (node.kind === 'seq') {
    return { ...node, items: node.items.map((item) => ({ ...item, value: withImages(item.value, key, images) })) };
  }
  const inContainer = key === 'containers' || key === 'initContainers';
  const entries = node.entries.map((entry) => {
    const { value } = entry;
    if (inContainer && entry.key === 'image' && value.kind === 'scalar')
      return { ...entry, value: renamed(value, images) };
    return { ...entry, value: withImages(value, entry.key, images) };
  });
  return { ...node, entries };
}

/** The last one of a name counts. A digest takes the place of a tag. https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/images/ */
function renamed(image: YamlScalar, images: readonly NewImage[]): YamlScalar {
  if (image.templated) return image;
  const [, name = '', version = ''] = /^(.*?)((?::[\w][\w.-]*)?(?:@.*)?)$/.exec(image.source) ?? [];
  const found = [...images].reverse().find((one) => one.name === name);
  if (found === undefined) return image;
  const { newName = name, newTag, digest } = found;
  const kept = digest === undefined ? (newTag === undefined ? version : `:${newTag}`) : `@${digest}`;
  const source = newName + kept;
  return { ...image, value: source, source, style: 'plain', span: nowhere };
}

function map(key: string, value: YamlNode): YamlNode {
  return {
    kind: 'map',
    entries: [{ key, keySpan: nowhere, value, shared: true }],
    flow: false,
    incomplete: false,
    span: nowhere,
  };
}
