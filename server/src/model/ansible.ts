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
  const module = entries(task).find((entry) => modules.test(keyOf(entry)));
  if (module === undefined || asText(getIn(module, 'state')) === 'absent') return [];
  const isRepeated = entries(task).some((entry) => /^(?:loop|with_\w+)$/.test(keyOf(entry)));
  const given = getIn(module, 'definition') ?? getIn(module, 'resource_definition');
  const roots = given?.node.kind === 'seq' ? items(given) : given === undefined ? [] : [given];
  return roots.map((root) => ({ root, isRepeated }));
}

const modules = /^(?:(?:kubernetes\.core|community\.(?:kubernetes|okd)|redhat\.openshift)\.)?k8s$/;
