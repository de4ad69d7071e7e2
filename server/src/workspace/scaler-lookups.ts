import { filledWith } from '../evidence/terraform-values.ts';
import { countIn } from '../model/count.ts';
import type { CrossReferences, Referenced, ScalerFacts } from '../model/cross-references.ts';
import { scalableKinds } from '../model/kinds/index.ts';
import { once } from '../model/once.ts';
import { replicaKinds } from '../model/scalers.ts';
import { agreed, factsAs, factsNamed, type Group, inNamespaces, objectNamed, type Scope } from './named.ts';
import { isInSiblingFolder, type Place } from './place.ts';
import type { FileSummary } from './summary.ts';
import { isTerraform } from './terraform.ts';
import { terraformKinds, terraformValuesAt } from './terraform-folders.ts';
import type { Found } from './workspace.ts';

/** The scalers of an object, from the nearest folder. @param group null if the API group of the object does not matter */
export function scalersOf(
  scope: Scope,
  group: string | null,
  kind: string,
  namespace: string | null,
  name: string,
): readonly Referenced<ScalerFacts>[] {
  return replicaKinds.flatMap((scaler) => {
    const named = (wordOf: (found: Found) => string | undefined, ...groups: readonly (string | null)[]) => {
      const found = inNamespaces(scope, namespace, (where) => {
        const word = JSON.stringify([...groups, kind, where, name]);
        return scope.workspace.objects(scaler, wordOf, word, name).nearest(scope);
      });
      const stated = scalesNearer(scope, found, kind, namespace, name) ? undefined : agreed(scope, found, 'scaler');
      return stated === undefined ? [] : withValues(stated, found, scope);
    };
    if (group === null) return named(targetOf);
    return [named(targetInGroup, group), named(targetInGroup, null)].flat();
  });
}

/** The scaler with bounds that the files of its folder of Terraform state. */
function withValues(scaler: Referenced<ScalerFacts>, [found]: Group, { workspace }: Scope): Referenced<ScalerFacts> {
  const { templates } = scaler.facts;
  if (templates === undefined || found === undefined || !isTerraform(found.fileName)) return scaler;
  workspace.dependOn(terraformKinds);
  const values = terraformValuesAt(workspace, found.uri);
  const bound = (template: string | undefined) => {
    const value = template === undefined ? undefined : filledWith({ template }, values);
    const count = typeof value === 'string' ? countIn(value) : null;
    return count === null ? undefined : Math.max(1, count);
  };
  const [min = scaler.facts.min, max = scaler.facts.max] = [bound(templates.min), bound(templates.max)];
  return { ...scaler, facts: { ...scaler.facts, min, max } };
}

/**
 * Whether a scaler in a sibling folder scales an object of this name that is nearer to it: the folders are projects of their own. An overlay,
 * which has only patches of the object, is not.
 */
function scalesNearer(scope: Scope, group: Group, kind: string, namespace: string | null, name: string): boolean {
  const [first] = group;
  if (first === undefined || !isInSiblingFolder(scope, first.folders)) return false;
  const nearestTo = (place: Place) =>
    objectNamed(scope.workspace, place, scalableKinds(kind), namespace, name).filter(
      ({ object }) => factsAs(object, 'workload') !== null,
    );
  const isOwn = ({ key }: Place) => key === scope.key;
  if (!nearestTo(scope).some(isOwn)) return false;
  return group.slice(0, maxSiblings).every((scaler) => {
    const scaled = nearestTo(scaler);
    return scaled.length > 0 && !scaled.some(isOwn);
  });
}

/** More scalers of one name and distance belong to as many projects. */
const maxSiblings = 4;

/** The name of another HorizontalPodAutoscaler of the file that scales the same object; undefined if the file has none, or only one of the name itself. */
export function otherAutoscaler(
  scope: Scope,
  kind: string,
  namespace: string | null,
  target: string,
  own: string,
): string | undefined {
  scope.workspace.dependOn(['HorizontalPodAutoscaler']);
  const file = scope.workspace.file(scope.key);
  const found = file && autoscalersIn(file.summary).get(JSON.stringify([kind, namespace, target]));
  return found?.find((name) => name !== own);
}

/** The names of the HorizontalPodAutoscalers of a file by their targets. */
const autoscalersIn = once((summary: FileSummary): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>();
  for (const object of summary.objects()) {
    const facts = object.kind === 'HorizontalPodAutoscaler' ? object.facts() : null;
    if (facts?.type !== 'scaler') continue;
    const key = JSON.stringify([facts.target.kind, object.namespace, facts.target.name]);
    // Two are enough.
    found.set(key, [...(found.get(key)?.slice(0, 1) ?? []), object.name]);
  }
  return found;
});

function targetOf({ object }: Found): string | undefined {
  const facts = object.facts();
  return facts?.type === 'scaler'
    ? JSON.stringify([facts.target.kind, object.namespace, facts.target.name])
    : undefined;
}

function targetInGroup({ object }: Found): string | undefined {
  const facts = object.facts();
  return facts?.type === 'scaler'
    ? JSON.stringify([facts.target.group, facts.target.kind, object.namespace, facts.target.name])
    : undefined;
}

/** The workload that a scaler names. */
export function targetNamed(
  scope: Scope,
  kind: string,
  namespace: string | null,
  name: string,
): ReturnType<CrossReferences['workload']> {
  const kinds = kind === 'InferenceService' ? ['serving.kserve.io/InferenceService'] : scalableKinds(kind);
  if (kinds.length === 0) return undefined;
  const own = factsNamed(scope, kinds, namespace, name, 'workload');
  // In Standard mode KServe names the Deployment of an InferenceService after it.
  const [service] = /^(?=.+-predictor$).*(?=-predictor$)/.exec(name) ?? [];
  if (own !== undefined || kind !== 'Deployment' || service === undefined) return own;
  return factsNamed(scope, ['serving.kserve.io/InferenceService'], namespace, service, 'workload');
}
