import { apiFields } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { isValues } from '../model/values.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, keyOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { misspelledField, sameNamed, similarField } from './api-names.ts';
import { type ApiHolder, type ApiProblem, concernsAccelerators, problemsBelow } from './api-problems.ts';
import { isPodSpec } from './rejection.ts';
import { isTyped } from './typed-places.ts';

/** A mistake in a pod: a field that stands for another one beyond doubt, or a value that no API server accepts. */
export interface UntypedProblem {
  readonly problem: ApiProblem;
  /** The name of the field that is meant; undefined for a value. */
  readonly name: string | undefined;
}

/**
 * The mistakes in the pods of objects whose own type is not in the table, such as workflows of Argo and tasks of Tekton: their containers are those
 * of Kubernetes, with more fields. So only a name that certainly stands for another one counts.
 */
export function untypedProblems(podSet: PodSet, workload: Workload): readonly UntypedProblem[] {
  const { pod, containers } = podSet;
  const { kind, root, document } = workload.manifest;
  if (isValues(workload) || isTyped(pod, workload)) return [];
  if (workload.byShape && !isPodSpec(podSet, workload)) return [];
  if (document.problems.some(({ readable }) => readable !== true) || !concernsAccelerators(root.node, kind)) return [];
  const inContainers = containers
    .filter(({ at }) => getIn(at, 'image') !== undefined)
    .flatMap(({ at }) => {
      // Tekton's name for the resources of a step.
      const resources = getIn(at, 'computeResources');
      const container = { at, type: 'Container', above: undefined };
      return [container, ...(resources ? [{ at: resources, type: 'ResourceRequirements', above: container }] : [])];
    })
    .flatMap((holder) => problemsBelow(holder, document.text));
  return [
    ...placementProblems({ at: pod, type: 'PodSpec', above: undefined }),
    ...inContainers.flatMap((problem): readonly UntypedProblem[] => {
      const { what } = problem;
      // What a controller replaces: `$(params.memory)Gi`.
      if (/\$\(/.test(asText(problem.at) ?? '')) return [];
      if (what === 'not-in-enum' || what === 'not-a-quantity') return [{ problem, name: undefined }];
      // What a field holds proves nothing: Tekton's computeResources and workspaces look like fields of Kubernetes.
      const find = workload.byShape ? misspelledField : similarField;
      const meant = what === 'unknown-field' ? find(problem.holder, problem.field) : undefined;
      return meant === undefined ? [] : [{ problem, name: meant.name }];
    }),
  ];
}

/** What places a pod is called the same in the templates of all operators, which have many fields of their own. */
function placementProblems(holder: ApiHolder): readonly UntypedProblem[] {
  return entries(holder.at).flatMap((at) => {
    const field = keyOf(at);
    const name = sameNamed(holder, field);
    if (name === undefined || name === field || !placementFields.has(name)) return [];
    return [{ problem: { what: 'unknown-field', at, holder, field, type: undefined }, name }];
  });
}

const placementFields = wordSet('affinity imagePullSecrets nodeSelector runtimeClassName schedulerName tolerations');

/** Whether a mapping in a chart's values is one of the containers in a list or a mapping of them by name. */
export function isInContainers({ parent }: Cursor): boolean {
  return parent?.step === 'containers';
}

/**
 * The fields of a container in a list of values that certainly stand for others. Charts pass such lists on, some with fields of their own, so only a
 * container with the name and the image of a whole one counts.
 */
export function misspelledFields(at: Cursor, { problems }: YamlDocument): readonly ApiProblem[] {
  if (!isInContainers(at) || typeof at.step !== 'number') return [];
  if (problems.some(({ readable }) => readable !== true) || isIncomplete(at)) return [];
  if (asText(getIn(at, 'name')) === undefined || asText(getIn(at, 'image')) === undefined) return [];
  const holder: ApiHolder = { at, type: 'Container', above: undefined };
  return entries(at).flatMap((entry): readonly ApiProblem[] => {
    const field = keyOf(entry);
    const meant = apiFields('Container').has(field) ? undefined : misspelledField(holder, field);
    // A chart's own `port: 8000` is no list of ports.
    return meant?.type.form === 'object' && hasOnlyFieldsOf(entry, meant.type.name)
      ? [{ what: 'unknown-field', at: entry, holder, field, type: undefined }]
      : [];
  });
}

function hasOnlyFieldsOf(at: Cursor, type: string): boolean {
  const fields = apiFields(type);
  return entries(at).length > 0 && entries(at).every((entry) => fields.has(keyOf(entry)));
}
