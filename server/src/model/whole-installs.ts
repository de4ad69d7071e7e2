import type { YamlMap, YamlNode } from '../yaml/node.ts';
import { emptyMap } from './kustomize/merge.ts';

// Objects that install charts from elsewhere, as if all their values were in them: gpulint reads these as it reads any other.

/** An Application, or the template of one, with only one of its sources. */
export function withArgoValues(root: YamlNode, source: YamlNode, values: YamlNode): YamlNode {
  const whole = withKey(source, 'helm', mapOf('valuesObject', values));
  const spec = withKey(withKey(valueOfKey(root, 'spec'), 'sources', undefined), 'source', whole);
  const typed = withKey(withKey(root, 'apiVersion', textOf('argoproj.io/v1alpha1')), 'kind', textOf('Application'));
  return withKey(typed, 'spec', spec);
}

/** A HelmRelease of Flux. */
export function withFluxValues(root: YamlNode, values: YamlNode): YamlNode {
  const spec = withKey(valueOfKey(root, 'spec'), 'valuesFrom', undefined);
  return withKey(root, 'spec', withKey(spec, 'values', values));
}

/** A helmfile with only one of its releases. */
export function withHelmfileValues(release: YamlNode, values: YamlNode): YamlNode {
  const layers = listOf(values);
  return mapOf('releases', listOf(withKey(withKey(release, 'set', undefined), 'values', layers)));
}

/** A fleet.yaml. */
export function withFleetValues(root: YamlNode, values: YamlNode): YamlNode {
  const helm = withKey(valueOfKey(root, 'helm'), 'valuesFiles', undefined);
  return withKey(root, 'helm', withKey(helm, 'values', values));
}

function valueOfKey(node: YamlNode, key: string): YamlNode {
  return (node.kind === 'map' ? node.entries.find((entry) => entry.key === key)?.value : undefined) ?? emptyMap;
}

/** @param value undefined: without the key */
function withKey(node: YamlNode, key: string, value: YamlNode | undefined): YamlNode {
  if (node.kind !== 'map') return node;
  const others = node.entries.filter((entry) => entry.key !== key);
  const own = value === undefined ? [] : mapOf(key, value).entries;
  return { ...node, entries: [...others, ...own] };
}

function mapOf(key: string, value: YamlNode): YamlMap {
  return { ...emptyMap, entries: [{ key, keySpan: emptyMap.span, value, shared: true }] };
}

function textOf(text: string): YamlNode {
  return { kind: 'scalar', value: text, source: text, style: 'plain', templated: false, span: emptyMap.span };
}

function listOf(value: YamlNode): YamlNode {
  return { kind: 'seq', items: [{ value, shared: true }], flow: false, incomplete: false, span: emptyMap.span };
}
