import { describe, expect, test } from 'vitest';
import { lowerManifests } from '../../server/src/model/manifest.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';

const pod = (name: string) => `{apiVersion: v1, kind: Pod, metadata: {name: ${name}}}`;
const applied = (text: string) =>
  parseYaml(text)
    .documents.flatMap(lowerManifests)
    .map(({ kind, name, created }) => [kind, name, created ?? 'now']);

describe('the objects that tasks of Ansible apply', () => {
  test.each<[string, string, readonly (readonly string[])[]]>([
    [
      'in a role',
      `- name: Apply\n  kubernetes.core.k8s: {state: present, definition: ${pod('a')}}\n`,
      [['Pod', 'a', 'now']],
    ],
    [
      'in a play, and in blocks',
      `- hosts: all\n  pre_tasks:\n    - k8s: {definition: ${pod('a')}}\n  tasks:\n    - block:\n        - k8s: {resource_definition: ${pod('b')}}\n`,
      [
        ['Pod', 'a', 'now'],
        ['Pod', 'b', 'now'],
      ],
    ],
    [
      'as a list',
      `- redhat.openshift.k8s: {definition: [${pod('a')}, ${pod('b')}]}\n`,
      [
        ['Pod', 'a', 'now'],
        ['Pod', 'b', 'now'],
      ],
    ],
    ['in a loop', `- k8s: {definition: ${pod('a')}}\n  loop: [1, 2]\n`, [['Pod', 'a', 'later']]],
    ['that are deleted', `- k8s: {state: absent, definition: ${pod('a')}}\n`, []],
    ['by another module', `- debug: {definition: ${pod('a')}}\n`, []],
    ['from a template', "- k8s: {definition: \"{{ lookup('template', 'pod.yaml') }}\"}\n", []],
  ])('%s', (_name, text, expected) => {
    expect(applied(text)).toEqual(expected);
  });
});
