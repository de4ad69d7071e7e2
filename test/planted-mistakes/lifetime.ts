import type { DocumentAnalysis, FileAnalysis } from '../../server/src/analysis.ts';
import { hasDurableMount } from '../../server/src/evidence/volume-lifetime.ts';
import { asText, getIn, items } from '../../server/src/yaml/cursor.ts';
import { containerSites, isWhole, podSites } from './sites.ts';
import { add, append, drop, type Mistake, type Planters, put, putUnder, rename, type Step } from './steps.ts';

export const planters: Planters = {
  'idle-gpu-container': idleWithOtherDevices,
  'always-on-notebook': alwaysOnNotebook,
  'provisioning-request-unused': provisioningRequestUnused,
  'cronjob-overlap': cronjobOverlap,
  'job-never-completes': besideServer,
  'eviction-blocked': evictionBlocked,
  'node-name-fixed': nodeNameFixed,
  'spot-grace-period': spotGracePeriod,
};

// Devices that are held longer than they are used.

function cronjobOverlap(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ workload }) => workload.kind === 'CronJob' && isWhole(workload))
    .flatMap(({ root }) => {
      if (getIn(root, 'spec', 'suspend') !== undefined) return [];
      const place = { path: ['spec', 'schedule'], part: 'value' } as const;
      const drops = getIn(root, 'spec', 'concurrencyPolicy') === undefined ? [] : [drop(['spec', 'concurrencyPolicy'])];
      return [
        {
          name: 'a deadline of two months',
          steps: [...drops, ...put(['spec', 'jobTemplate', 'spec'], 'activeDeadlineSeconds', 5_184_000)],
          place,
        },
        { name: 'every ten minutes', steps: [...drops, ...put(['spec'], 'schedule', '*/10 * * * *')], place },
      ];
    });
}

function besideServer(analysis: DocumentAnalysis): readonly Mistake[] {
  const servers = [
    { name: 'board', image: 'registry.example/board:2.17', command: ['tensorboard', '--logdir', '/logs'] },
    { name: 'db', image: 'gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.14.1', args: ['team:region:db'] },
    { name: 'cache', image: 'redis:7.4', args: ['--save', ''] },
  ];
  return podSites(analysis)
    .filter(({ root, workload, podSet }) => {
      const deadlines = [podSet.pod, getIn(root, 'spec')].map((place) => getIn(place, 'activeDeadlineSeconds'));
      const isJob = workload.kind === 'Job' && workload.apiVersion === 'batch/v1' && isWhole(workload);
      return isJob && workload.role === 'training' && deadlines.every((one) => one === undefined);
    })
    .flatMap(({ pod, podSet }) => {
      const words = podSet.containers.flatMap(({ command, args }) => [...command, ...args].map(({ value }) => value));
      if (getIn(podSet.pod, 'shareProcessNamespace') !== undefined || words.some((word) => /kill|quit/.test(word)))
        return [];
      const apps = items(getIn(podSet.pod, 'containers'));
      return servers.map((server) => ({
        name: server.image,
        steps: [append([...pod, 'containers'], server)],
        place: { path: [...pod, 'containers', apps.length, 'name'], part: 'value' as const },
      }));
    });
}

function nodeNameFixed(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis)
    .filter(
      ({ workload, podSet }) =>
        /^(?:Job|Deployment|StatefulSet)$/.test(workload.kind) && isWhole(workload) && podSet.selectors.length === 0,
    )
    .flatMap(({ pod }) => [
      {
        name: 'a node',
        steps: put(pod, 'nodeName', 'gpu-3'),
        place: { path: [...pod, 'nodeName'], part: 'key' as const },
      },
    ]);
}

/** In files with one Deployment that requests GPUs, next to its budget. */
function evictionBlocked({ manifests }: DocumentAnalysis, { documents }: FileAnalysis): readonly Mistake[] {
  const [budget] = manifests;
  const workloads = documents.flatMap((document) => document.workloads);
  const [workload, ...others] = workloads;
  const requests = workload?.podSets.some(({ accelerators }) => accelerators.length > 0) === true;
  const pods = workload?.podSets[0]?.pods.min ?? 0;
  if (budget?.kind !== 'PodDisruptionBudget' || !requests || others.length > 0 || pods < 2) return [];
  return [pods, pods + 1, '100%'].map((count) => ({
    name: `minAvailable ${count}`,
    steps: put(['spec'], 'minAvailable', count),
    place: { path: ['spec', 'minAvailable'], part: 'key' as const },
  }));
}

function alwaysOnNotebook(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ workload, listed, request, podSet, container }) => {
      const { kind, apiVersion, scaledBy } = workload;
      const plain = container.env.length === 0 && container.image?.at.shared === false && !podSet.pod.shared;
      return (
        /^(Deployment|StatefulSet)$/.test(kind) &&
        apiVersion === 'apps/v1' &&
        listed &&
        plain &&
        scaledBy === null &&
        podSet.pods.max !== 0 &&
        isWhole(workload) &&
        request.form === 'whole'
      );
    })
    .flatMap(({ path, container, podSet, resources, resource }): readonly Mistake[] => {
      const { args } = container;
      // Without a volume, notebook-without-volume reports it, too.
      if (podSet.containers.length === 1 && !hasDurableMount(container, podSet)) return [];
      const place = { path: [...resources, 'limits', resource], part: 'key' } as const;
      const quiet = args.length > 0 ? [drop([...path, 'args'])] : [];
      const commands = [
        ['jupyter', 'lab', '--ip=0.0.0.0'],
        ['bash', '-c', 'exec jupyter notebook --port 8888'],
        ['code-server', '--bind-addr=0.0.0.0:8080'],
      ].map((command) => ({ name: command.join(' '), steps: [...quiet, ...put(path, 'command', command)], place }));
      return commands;
    });
}

/** Waits with devices whose names no list has, or of other vendors. */
function idleWithOtherDevices(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ workload, podSet, request, container, listed }) => {
      const free =
        podSet.selectors.length === 0 &&
        podSet.placement.capacity !== 'spot' &&
        !analysis.text.includes('kueue.x-k8s.io/');
      return (
        /^(Pod|Job|Deployment)$/.test(workload.kind) &&
        listed &&
        free &&
        request.form === 'whole' &&
        container.accelerators.length === 1
      );
    })
    .flatMap(({ path, container, resources, resource, requested }) =>
      [
        'lab.example/gpu',
        'acme.example/fast-npu',
        'tenstorrent.com/n300',
        'rebellions.ai/ATOM',
        // An image for another vendor is a mistake of its own.
        ...(/rocm|amd|gaudi|habana/i.test(container.image?.value ?? '') ? [] : ['nvidia.com/rtxa6000']),
      ].map(
        (name): Mistake => ({
          name: `waits with ${name}`,
          steps: [
            ...(container.args.length > 0 ? [drop([...path, 'args'])] : []),
            ...put(path, 'command', ['sleep', 'infinity']),
            rename([...resources, 'limits', resource], name),
            ...(requested ? [rename([...resources, 'requests', resource], name)] : []),
          ],
          place: { path: [...path, 'command', 0], part: 'value' },
        }),
      ),
    );
}

function provisioningRequestUnused(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ root, pod, podSet, workload, first }): readonly Mistake[] => {
    const template = pod.slice(0, -1);
    const alone =
      workload.podSets.length === 1 &&
      podSet.containers.filter(({ accelerators }) => accelerators.length > 0).length === 1;
    const inTemplate = pod.at(-1) === 'spec' && template.at(-1) === 'template';
    if (
      !alone ||
      !inTemplate ||
      workload.partial ||
      workload.role === 'infrastructure' ||
      // Its instance type implies its devices.
      workload.kind === 'Workspace' ||
      first.container.accelerators.length !== 1
    )
      return [];
    if (podSet.selectors.length > 0 || podSet.accelerators.length !== 1) return [];
    const metadata = getIn(root, ...template, 'metadata');
    return ['autoscaling.x-k8s.io', 'cluster-autoscaler.kubernetes.io'].map((domain): Mistake => {
      const key = `${domain}/consume-provisioning-request`;
      const annotated: Step =
        metadata === undefined
          ? add(template, 'metadata', { annotations: { [key]: 'batch-1' } })
          : putUnder([...template, 'metadata'], 'annotations', key, 'batch-1');
      const amounts = ['limits', 'requests'].filter(
        (name) => asText(getIn(root, ...first.resources, name, first.resource)) !== undefined,
      );
      return {
        name: domain,
        steps: [
          ...put(pod, 'tolerations', [{ key: 'nvidia.com/gpu', operator: 'Exists' }]),
          annotated,
          ...amounts.map((name) => drop([...first.resources, name, first.resource])),
        ],
        place: { path: [...template, 'metadata', 'annotations', key], part: 'key' },
      };
    });
  });
}

function spotGracePeriod(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ pod, podSet: { placement } }): readonly Mistake[] => {
    if (placement.capacity !== 'spot' || !['aws', 'gcp', 'azure'].includes(placement.provider ?? '')) return [];
    const key = 'terminationGracePeriodSeconds';
    return [{ name: `${key} 900`, steps: put(pod, key, 900), place: { path: [...pod, key], part: 'value' } }];
  });
}
