import { gpus } from '../catalog/index.ts';
import { asText, type Cursor, getIn, isTemplated, items, keyOf, type Located } from '../yaml/cursor.ts';
import type { CrossReferences, FlavorFacts } from './cross-references.ts';
import { isAboutDevices, modelsInLabel, modelsInList, modelsMentioned, type NamedModels } from './named-models.ts';
import type { Container, Selector } from './workload.ts';

/** The models of the nodes that other objects describe: the node pool that a pod selects, and the flavors of its queue. */
export function modelsOfNodes(
  selectors: readonly Selector[],
  marks: readonly Located<string>[],
  namespace: string | null,
  crossReferences: CrossReferences,
): readonly NamedModels[] {
  return [...ofPool(selectors, crossReferences), ...ofQueue(marks, namespace, crossReferences)];
}

function ofPool(selectors: readonly Selector[], crossReferences: CrossReferences): readonly NamedModels[] {
  if (selectors.length === 0) return [];
  const wanted = selectors.map(({ key, values }) => ({ key, values: values.map(({ value }) => value) }));
  const candidates = (crossReferences.landingOf(wanted, false)?.gpus ?? []).flatMap((id) => gpus.get(id) ?? []);
  return candidates.length === 0 ? [] : [{ candidates, from: 'node-pool' }];
}

/** The model of all GPU pools of the project, for pods that select no nodes. */
export function onlyPool(
  selectors: readonly Selector[],
  pod: Cursor,
  crossReferences: CrossReferences,
): readonly NamedModels[] {
  if (selectors.length > 0 || getIn(pod, 'affinity') !== undefined) return [];
  const landing = crossReferences.landingOf([], true);
  const candidates = (landing?.gpus ?? []).flatMap((id) => gpus.get(id) ?? []);
  if (landing === undefined || candidates.length !== 1 || landing.siblingFolder) return [];
  return [{ candidates, from: 'hint', hint: { basis: 'pool', text: landing.first.name } }];
}

/** The models in the ConfigMaps whose entries are environment variables of the containers. */
export function modelsInConfigMaps(
  containers: readonly Container[],
  namespace: string | null,
  crossReferences: CrossReferences,
): readonly NamedModels[] {
  return containers.flatMap(({ at }) =>
    items(getIn(at, 'envFrom')).flatMap((source) => {
      const name = getIn(source, 'configMapRef', 'name');
      if (name === undefined || isTemplated(name)) return [];
      const files = crossReferences.configMap(namespace, asText(name) ?? '');
      if (files === undefined) return [];
      return Object.entries(files.facts).flatMap(([key, value]): readonly NamedModels[] => {
        const candidates = isAboutDevices(key) ? modelsInList(value) : [];
        const hint = { basis: 'argument', text: `${key}=${value}` } as const;
        return candidates.length === 0 ? [] : [{ candidates, from: 'hint', hint }];
      });
    }),
  );
}

function ofQueue(
  marks: readonly Located<string>[],
  namespace: string | null,
  crossReferences: CrossReferences,
): readonly NamedModels[] {
  const queue = marks.find(({ at }) => keyOf(at) === 'kueue.x-k8s.io/queue-name');
  if (queue === undefined || isTemplated(queue.at)) return [];
  const models = crossReferences.flavorsOf(namespace, queue.value).flatMap(modelsOfFlavor);
  return models.length === 0 ? [] : [{ candidates: [...new Set(models)], from: 'queue' }];
}

/** Flavors of CPU nodes name no model. */
function modelsOfFlavor({ name, labels }: FlavorFacts) {
  const labeled = Object.entries(labels ?? {}).flatMap(([key, value]) => modelsInLabel(key, [value]));
  return labeled.length > 0 ? labeled : modelsMentioned(name);
}
