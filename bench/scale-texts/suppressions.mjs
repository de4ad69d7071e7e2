// Comments and annotations that silence rules.
import { many, head, pod, containers, inContainer } from './parts.mjs';

/** @type {readonly import('./parts.mjs').Growing[]} */
export const suppressions = [
  {
    name: 'suppressions, used',
    most: 10_000,
    make: inContainer(
      'env',
      (i) =>
        `            # gpulint-disable-next-line nproc-per-node -- ${i}\n            - { name: A${i}, value: "1" }\n`,
    ),
  },
  {
    name: 'suppressions',
    most: 21_000,
    make: (n) => `${pod}${containers}${many(n, (i) => `# gpulint-disable-line shm-missing -- no ${i}\n`)}`,
  },
  {
    name: 'suppressions of the next line',
    most: 16_000,
    make: (n) => `${pod}${containers}${many(n, () => `# gpulint-disable-next-line image-not-pinned\n`)}`,
  },
  {
    name: 'suppressions with findings',
    most: 5000,
    make: (n) =>
      many(
        n,
        (i) =>
          `${i ? '---\n' : ''}apiVersion: v1\nkind: Pod\nmetadata: { name: p${i} }\nspec:\n  containers:\n    - name: c\n      image: a:latest # gpulint-disable-line\n      resources: { requests: { nvidia.com/gpu: 1 } }\n`,
      ),
  },
  {
    name: 'findings and suppressions in one pod',
    most: 6000,
    make: (n) =>
      `${pod}      containers:\n${many(n, (i) => `        - name: c${i}\n          image: a:latest # gpulint-disable-line image-not-pinned\n          resources: { requests: { nvidia.com/gpu: 1 } }\n`)}`,
  },
  {
    name: 'suppressions of unknown rules',
    most: 16_000,
    make: (n) => `${pod}${containers}${many(n, (i) => `# gpulint-disable-line gpu-limits-requird-${i} -- no\n`)}`,
  },
  {
    name: 'disabling annotations',
    most: 20_000,
    make: (n) =>
      `${head}  annotations:\n${many(n, () => `    gpulint.dev/disable: nproc-per-node\n`)}${pod.slice(head.length)}${containers}`,
  },
  {
    name: 'ids in one annotation',
    most: 100_000,
    make: (n) =>
      `${head}  annotations:\n    gpulint.dev/disable: "${many(n, (i) => `rule-${i % 100},`)}"\n${pod.slice(head.length)}${containers}`,
  },
  {
    name: 'ids in one comment',
    most: 100_000,
    make: (n) => `${pod}${containers}# gpulint-disable ${many(n, (i) => `x${i % 1000}, `)}\n`,
  },
];
