import type { Cursor } from '../../yaml/cursor.ts';
import { asText, entries, getIn, isIncomplete, items } from '../../yaml/cursor.ts';
import { lowerContainer, lowerContainers, lowerVolumes, text } from '../pod.ts';
import type { Container } from '../workload.ts';
import type { KindEntry, KindInput, KindLowering, PodSetSource } from './kind.ts';
import { exactly } from './pod-sets.ts';
import { devicesPerPod, podsOfSteps, tektonSteps } from './step-references.ts';
import { concurrentTasks } from './workflow-runs.ts';

/** Tekton: a pod per run of a task. */
export const tektonKinds: readonly KindEntry[] = [
  {
    group: 'tekton.dev',
    wholeResources: true,
    kinds: ['Task'],
    words: [],
    role: 'definition',
    runsAsWritten: true,
    named: true,
    lower: ({ root }) => lowered(ownPods('task', getIn(root, 'spec'))),
  },
  {
    group: 'tekton.dev',
    wholeResources: true,
    kinds: ['ClusterTask'],
    words: [],
    role: 'definition',
    runsAsWritten: true,
    named: true,
    cluster: true,
    lower: ({ root }) => lowered(ownPods('task', getIn(root, 'spec'))),
  },
  {
    group: 'tekton.dev',
    wholeResources: true,
    kinds: ['Pipeline'],
    words: [],
    role: 'definition',
    runsAsWritten: true,
    named: true,
    lower: (object) => lowered(pipelinePods(getIn(object.root, 'spec'), object)),
  },
  {
    group: 'tekton.dev',
    wholeResources: true,
    kinds: ['TaskRun'],
    runsSteps: true,
    words: ['taskRef'],
    lower: (object) =>
      lowered(onNodesOf(getIn(object.root, 'spec'), taskPods('task', getIn(object.root, 'spec'), object))),
  },
  {
    group: 'tekton.dev',
    wholeResources: true,
    kinds: ['PipelineRun'],
    runsSteps: true,
    words: ['pipelineRef'],
    lower: (object) => {
      const spec = getIn(object.root, 'spec');
      const found = tektonSteps(getIn(spec, 'pipelineRef'), 'Pipeline', object);
      const podSets = found === undefined ? pipelinePods(getIn(spec, 'pipelineSpec'), object) : podsOfSteps(found);
      return lowered(onNodesOf(getIn(spec, 'taskRunTemplate') ?? spec, podSets, items(getIn(spec, 'taskRunSpecs'))));
    },
  },
];

/**
 * The pods on the nodes that a run selects, for all its tasks or for some. https://tekton.dev/docs/pipelines/podtemplates/
 * @param run the mapping with the `podTemplate`
 */
function onNodesOf(
  run: Cursor | undefined,
  podSets: readonly PodSetSource[],
  some: readonly Cursor[] = [],
): readonly PodSetSource[] {
  return podSets.map((source) => {
    const own = some.find((one) => asText(getIn(one, 'pipelineTaskName')) === source.name);
    // A field of a task's template replaces the run's; the others stay.
    const templates = [getIn(own, 'podTemplate'), getIn(own, 'taskPodTemplate'), getIn(run, 'podTemplate')];
    const [nodeSelector, affinity] = ['nodeSelector', 'affinity'].map((field) =>
      templates.map((template) => getIn(template, field)).find((found) => found !== undefined),
    );
    const nodeSelectorTerms = getIn(affinity, 'nodeAffinity', ...required, 'nodeSelectorTerms');
    const tolerated = templates.find((template) => getIn(template, 'tolerations') !== undefined);
    const volumes = templates.flatMap((template) => (template === undefined ? [] : lowerVolumes(template)));
    return {
      ...source,
      ...(nodeSelector && { nodeSelector }),
      ...(nodeSelectorTerms && { nodeSelectorTerms }),
      ...(tolerated && { tolerated }),
      ...(volumes.length > 0 && { volumes }),
    };
  });
}

const required = ['requiredDuringSchedulingIgnoredDuringExecution'] as const;

function lowered(podSets: readonly PodSetSource[]): KindLowering {
  return { podSets, retries: null, scaling: null, partial: true };
}

/** The pods of the tasks of a pipeline, as many as run at once. */
function pipelinePods(spec: Cursor | undefined, object: KindInput): readonly PodSetSource[] {
  const [tasks, last] = [items(getIn(spec, 'tasks')), items(getIn(spec, 'finally'))];
  const sources = [...tasks, ...last].map((task) => taskPods(asText(getIn(task, 'name')) ?? 'task', task, object)[0]);
  const isOpen = isIncomplete(getIn(spec, 'tasks')) || isIncomplete(spec);
  const runs = isOpen ? [] : concurrentTasks(tasks, last, sources.map(devicesPerPod));
  return sources.flatMap((source, at) =>
    source === undefined ? [] : [{ ...source, pods: runs[at] ?? exactly(null) }],
  );
}

/** The pod of a task or a run, from its own steps or from the Task that it references. */
function taskPods(name: string, task: Cursor | undefined, object: KindInput): readonly PodSetSource[] {
  const own = getIn(task, 'taskSpec');
  if (own !== undefined) return ownPods(name, own);
  const reference = getIn(task, 'taskRef');
  const kind = asText(getIn(reference, 'kind')) === 'ClusterTask' ? 'ClusterTask' : 'Task';
  const found = tektonSteps(reference, kind, object);
  return found === undefined ? [] : podsOfSteps(found).map((source) => ({ ...source, name }));
}

/** The steps of a task are containers of one pod: their requests add up. https://tekton.dev/docs/pipelines/compute-resources/ */
function ownPods(name: string, task: Cursor | undefined): readonly PodSetSource[] {
  const steps = items(getIn(task, 'steps'));
  if (task === undefined || steps.length === 0) return [];
  const template = getIn(task, 'stepTemplate');
  const containers = [
    ...steps.map((step) =>
      withScript(step, lowerContainer(step, 'app', '', resourcesOf(step) ?? resourcesOf(template))),
    ),
    ...lowerContainers(task),
  ];
  return [{ name, pod: task, metadata: undefined, replicas: undefined, pods: exactly(1), containers }];
}

/** A step with a script, by the interpreter of its first line; without one, `sh` stops at the first error. */
function withScript(step: Cursor, container: Container): Container {
  const script = text(getIn(step, 'script'));
  if (script === undefined || container.command.length > 0) return container;
  const [interpreter = ''] = /^#!.*/.exec(script.value.slice(0, 200)) ?? [];
  const [program = ''] = /\b(?:ba|da|k|z)?sh\b|\bpython[\d.]*/.exec(interpreter) ?? [interpreter === '' ? 'sh' : ''];
  if (program === '') return container;
  const words = [program, interpreter === '' ? '-ec' : '-c'].map((value) => ({ value, at: script.at }));
  return { ...container, command: [...words, script] };
}

/** The field has another name since v1. */
function resourcesOf(step: Cursor | undefined): Cursor | undefined {
  const resources = getIn(step, 'computeResources') ?? getIn(step, 'resources');
  return entries(resources).length === 0 ? undefined : resources;
}
