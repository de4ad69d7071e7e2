import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, getIn, isTemplated, items } from '../../yaml/cursor.ts';
import type { YamlNode } from '../../yaml/node.ts';
import type { Referenced } from '../cross-references.ts';
import type { StepFacts, StepRun } from '../referenced-pods.ts';
import type { KindInput, PodSetSource } from './kind.ts';
import { between } from './pod-sets.ts';
import type { Use } from './workflow-branches.ts';

// Steps whose pods another object describes: a WorkflowTemplate, a Task or a Pipeline.

/** What a reference to an Argo template runs; undefined if it is not known. */
export interface OtherSteps {
  /** The reference, at which everything in it is located. */
  readonly at: Cursor;
  readonly from: Referenced<StepFacts>;
  readonly runs: readonly StepRun[];
}

/**
 * The runs of a template in another object.
 * @param at the mapping with the object's name
 * @param template the name of one of its templates; empty: what it starts with
 */
export function argoSteps(at: Cursor, template: string, object: KindInput): OtherSteps | undefined {
  const kind = asBoolean(getIn(at, 'clusterScope')) === true ? 'ClusterWorkflowTemplate' : 'WorkflowTemplate';
  return stepsOf(`argoproj.io/${kind}`, at, template, object);
}

/** The runs of a Tekton Task or Pipeline. */
export function tektonSteps(
  at: Cursor | undefined,
  kind: 'Task' | 'ClusterTask' | 'Pipeline',
  object: KindInput,
): OtherSteps | undefined {
  return at && stepsOf(`tekton.dev/${kind}`, at, '', object);
}

function stepsOf(
  kind: string,
  at: Cursor,
  template: string,
  { namespace, crossReferences }: KindInput,
): OtherSteps | undefined {
  const written = getIn(at, 'name');
  const name = asText(written);
  if (written === undefined || name === undefined || isTemplated(written)) return undefined;
  const from = crossReferences.steps(kind, namespace, name);
  const runs = from?.facts.runs[template];
  return from === undefined || runs === undefined ? undefined : { at: written, from, runs };
}

/** The pods of such steps, as often as one use of them runs them. */
export function podsOfSteps({ at, from, runs }: OtherSteps): readonly PodSetSource[] {
  return runs.map(({ name, min, max, stages, containers, selectors, terms }) => ({
    name,
    pod: at,
    metadata: undefined,
    replicas: undefined,
    pods: { ...between(min, max), ...(stages && { stages }) },
    containers: [],
    inheritedPods: { at, from, pods: { containers, selectors, ...(terms && { terms }) } },
  }));
}

/** The devices of one pod, by which the steps of a workflow are weighted. An unknown number counts as 1. */
export function devicesPerPod(source: PodSetSource | undefined): number {
  const containers = [...(source?.containers ?? []), ...(source?.inheritedPods?.pods.containers ?? [])];
  const requests = containers.flatMap(({ accelerators }) => accelerators.map(({ count }) => count ?? 1));
  const patched = (source?.implicitDevices ?? []).map(({ perPod }) => perPod ?? 1);
  return [...requests, ...patched].reduce((all, count) => all + count, 0);
}

/** The templates of other objects that the steps and tasks of a workflow run. */
export function templatesOfOthers(spec: Cursor | undefined, object: KindInput): readonly OtherTemplate[] {
  const steps = items(getIn(spec, 'templates')).flatMap((template) => [
    ...items(getIn(template, 'steps')).flatMap((group) => items(group)),
    ...items(getIn(template, 'dag', 'tasks')),
  ]);
  return steps.flatMap((step) => {
    const reference = getIn(step, 'templateRef');
    const template = asText(getIn(reference, 'template'));
    const found =
      reference === undefined || template === undefined ? undefined : argoSteps(reference, template, object);
    return found === undefined ? [] : [{ step: step.node, found }];
  });
}

export interface OtherTemplate {
  readonly step: YamlNode;
  readonly found: OtherSteps;
}

/** What the steps with templates of other objects use. @param first the index of the first pod set of these templates */
export function usesOfOthers(others: readonly OtherTemplate[], first: number): ReadonlyMap<YamlNode, Use> {
  let next = first;
  return new Map(
    others.map(({ step, found }) => {
      const use: Use = new Map(
        found.runs.map(({ min, max, stages }) => [next++, { busiest: min, most: max, ...(stages && { stages }) }]),
      );
      return [step, use];
    }),
  );
}
