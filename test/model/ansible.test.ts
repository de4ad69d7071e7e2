import { describe, expect, test } from 'vitest';
import { releasesOfTasks } from '../../server/src/model/ansible-releases.ts';
import { lowerDocument } from '../../server/src/model/lower.ts';
import { lowerManifests } from '../../server/src/model/manifest.ts';
import { defaultModelOptions } from '../../server/src/model/options.ts';
import { rootCursor } from '../../server/src/yaml/cursor.ts';
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

const values =
  '{replicaCount: 2, image: {repository: registry.example/chat, tag: "1.4"}, resources: {limits: {nvidia.com/gpu: 1}}}';
const releases = (text: string) =>
  parseYaml(text).documents.flatMap(({ root }) =>
    root === null
      ? []
      : releasesOfTasks(rootCursor(root)).map(({ chart, release, namespace, isWhole, isGenerated = false }) => [
          ...[chart, release, namespace],
          ...[isWhole, isGenerated],
        ]),
  );

describe('the charts that tasks of Ansible install', () => {
  test.each<[string, string, readonly (readonly unknown[])[]]>([
    [
      'in a role',
      `- kubernetes.core.helm: {name: chat, chart_ref: team/chat, release_namespace: ml, values: ${values}}\n`,
      [['chat', 'chat', 'ml', true, false]],
    ],
    [
      'in a play, with more values',
      `- hosts: all\n  tasks:\n    - helm: {release_name: chat, chart_ref: chat, release_values: ${values}, values_files: [more.yaml]}\n`,
      [['chat', 'chat', null, false, false]],
    ],
    [
      'in a loop',
      `- kubernetes.core.helm: {name: chat, chart_ref: chat, values: ${values}}\n  loop: [1, 2]\n`,
      [['chat', 'chat', null, true, true]],
    ],
    ['that are removed', `- kubernetes.core.helm: {name: chat, state: absent, values: ${values}}\n`, []],
    ['with values of a variable', '- kubernetes.core.helm: {name: chat, values: "{{ chat_values }}"}\n', []],
    ['by another module', `- debug: {values: ${values}}\n`, []],
  ])('%s', (_name, text, expected) => {
    expect(releases(text)).toEqual(expected);
  });

  test('have their pods', () => {
    const [document] = parseYaml(
      `- kubernetes.core.helm: {name: chat, chart_ref: chat, release_namespace: ml, values: ${values}}\n`,
    ).documents;
    const workloads = document === undefined ? [] : lowerDocument(document, defaultModelOptions).workloads;
    expect(workloads.map(({ name, namespace, podSets }) => [name, namespace, podSets[0]?.pods.min])).toEqual([
      ['chat', 'ml', 2],
    ]);
  });
});
