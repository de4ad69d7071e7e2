import { asText, type Cursor, entries, getIn, items, keyOf } from '../yaml/cursor.ts';
import type { InlineValues } from './inline-values.ts';

/** An object that a task of Ansible applies. */
export interface AppliedObject {
  readonly root: Cursor;
  /** A loop applies it any number of times. */
  readonly isRepeated: boolean;
}

/**
 * The objects in the tasks of a playbook or a role, which are lists. Those that a task deletes are left out.
 * https://docs.ansible.com/ansible/latest/collections/kubernetes/core/k8s_module.html
 */
export function appliedObjects(list: Cursor): readonly AppliedObject[] {
  return list.node.kind === 'seq' ? tasksIn(list, 0).flatMap(objectsOf) : [];
}

/** Where a play or a block has tasks. */
const lists = ['pre_tasks', 'tasks', 'post_tasks', 'handlers', 'block', 'rescue', 'always'];

/** Blocks may contain blocks; more than this is not a playbook. */
const maxDepth = 8;

function tasksIn(list: Cursor | undefined, depth: number): readonly Cursor[] {
  if (depth > maxDepth) return [];
  return items(list).flatMap((one) => [one, ...lists.flatMap((key) => tasksIn(getIn(one, key), depth + 1))]);
}

function objectsOf(task: Cursor): readonly AppliedObject[] {
  const module = moduleOf(task, 'k8s');
  if (module === undefined) return [];
  const isRepeated = isLoop(task);
  const given = getIn(module, 'definition') ?? getIn(module, 'resource_definition');
  const roots = given?.node.kind === 'seq' ? items(given) : given === undefined ? [] : [given];
  return roots.map((root) => ({ root, isRepeated }));
}

/** The options of a task with one of the modules for Kubernetes, unless it deletes something. */
function moduleOf(task: Cursor, name: 'k8s' | 'helm'): Cursor | undefined {
  const module = entries(task).find((entry) => modules.exec(keyOf(entry))?.[1] === name);
  return asText(getIn(module, 'state')) === 'absent' ? undefined : module;
}

const modules = /^(?:(?:kubernetes\.core|community\.(?:kubernetes|okd)|redhat\.openshift)\.)?(k8s|helm)$/;

function isLoop(task: Cursor): boolean {
  return entries(task).some((entry) => /^(?:loop|with_\w+)$/.test(keyOf(entry)));
}

/**
 * The values in the tasks that install charts.
 * https://docs.ansible.com/ansible/latest/collections/kubernetes/core/helm_module.html
 */
export function releasesOfTasks(list: Cursor): readonly InlineValues[] {
  if (list.node.kind !== 'seq') return [];
  return tasksIn(list, 0).flatMap((task): readonly InlineValues[] => {
    const module = moduleOf(task, 'helm');
    const values = getIn(module, 'values') ?? getIn(module, 'release_values');
    if (values?.node.kind !== 'map') return [];
    const chart = asText(getIn(module, 'chart_ref'));
    return [
      {
        values,
        chart: chart?.slice(chart.lastIndexOf('/') + 1),
        release: asText(getIn(module, 'name') ?? getIn(module, 'release_name')) ?? null,
        namespace: asText(getIn(module, 'release_namespace') ?? getIn(module, 'namespace')) ?? null,
        isWhole: moreValues.every((key) => getIn(module, key) === undefined),
        ...(isLoop(task) && { isGenerated: true }),
      },
    ];
  });
}

const moreValues = ['values_files', 'set_values'];
