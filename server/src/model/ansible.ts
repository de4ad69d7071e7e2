import { asText, type Cursor, entries, getIn, items, keyOf } from '../yaml/cursor.ts';

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
  return list.node.kind === 'seq' ? tasksIn(list).flatMap(objectsOf) : [];
}

/** Where a play or a block has tasks. */
const lists = ['pre_tasks', 'tasks', 'post_tasks', 'handlers', 'block', 'rescue', 'always'];

/** Blocks may contain blocks; more than this is not a playbook. */
const maxDepth = 8;

/** The tasks in a playbook or a role. */
export function tasksIn(list: Cursor | undefined, depth = 0): readonly Cursor[] {
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
export function moduleOf(task: Cursor, name: 'k8s' | 'helm'): Cursor | undefined {
  const module = entries(task).find((entry) => modules.exec(keyOf(entry))?.[1] === name);
  return asText(getIn(module, 'state')) === 'absent' ? undefined : module;
}

const modules = /^(?:(?:kubernetes\.core|community\.(?:kubernetes|okd)|redhat\.openshift)\.)?(k8s|helm)$/;

/** Whether a task runs any number of times. */
export function isLoop(task: Cursor): boolean {
  return entries(task).some((entry) => /^(?:loop|with_\w+)$/.test(keyOf(entry)));
}
