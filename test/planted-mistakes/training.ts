import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { gpusByLabel, isGpuLabel } from '../../server/src/catalog/index.ts';
import type { Volume } from '../../server/src/model/workload.ts';
import { asNumber, asText, getIn, items } from '../../server/src/yaml/cursor.ts';
import { onSpot, takesSelectors } from './placement.ts';
import { type ContainerSite, containerSites, isWhole, manifestsOf, podSites } from './sites.ts';
import {
  add,
  append,
  appendUnder,
  drop,
  dropItem,
  type Mistake,
  type Path,
  type Planters,
  pathOf,
  put,
  putUnder,
  set,
} from './steps.ts';

export const planters: Planters = {
  'checkpoint-ephemeral': checkpointEphemeral,
  'checkpoint-interval': checkpointInterval,
  'checkpoint-never': checkpointNever,
  'cpu-pod-on-gpu-node': cpuPodOnGpuNode,
  'nproc-per-node': nprocPerNode,
  'resume-disabled': resumeDisabled,
  'shm-missing': shmMissing,
  'spot-candidate': spotCandidate,
  'spot-no-retry': spotNoRetry,
  'spot-selector-toleration': spotSelectorToleration,
  'spot-without-checkpoint': spotLosesClaim,
};

// Mistakes in checkpoints, retries and processes of training jobs.

interface Word {
  readonly text: string;
  readonly path: Path;
}

function checkpointEphemeral(analysis: DocumentAnalysis): readonly Mistake[] {
  return trainers(analysis).flatMap((site): readonly Mistake[] => {
    const { workload } = site;
    if ((workload.retries?.limit ?? 0) === 0 || onSpotAlready(site)) return [];
    const flag = directoryFlag(site);
    const claim = flag && claimOf(site, flag.directory);
    if (flag === undefined || claim === undefined) return [];
    const place = { path: flag.path, part: 'value' } as const;
    const written = words(site).filter(({ text }) => text.includes(claim.mountPath));
    return [
      {
        name: 'progress on an emptyDir',
        steps: [drop([...claim.path, 'persistentVolumeClaim']), add(claim.path, 'emptyDir', {})],
        place,
      },
      {
        name: 'progress in the container',
        steps: written.map(({ path, text }) => set(path, text.replaceAll(claim.mountPath, '/scratch'))),
        place,
      },
    ];
  });
}

function checkpointNever(analysis: DocumentAnalysis): readonly Mistake[] {
  return trainers(analysis).flatMap((site): readonly Mistake[] => {
    const list = lastList(site);
    const said = words(site).some(({ text }) => /save|interval|max.steps/.test(text));
    if (list === undefined) return [];
    const off = {
      name: 'save_strategy no',
      steps: [append(list.path, '--save_strategy=no')],
      place: { path: [...list.path, list.length], part: 'value' },
    } as const;
    if (said) return [off];
    return [
      off,
      {
        name: 'an interval beyond the end',
        steps: [append(list.path, '--save_steps=5000'), append(list.path, '--max_steps=1000')],
        place: { path: [...list.path, list.length], part: 'value' },
      },
    ];
  });
}

function checkpointInterval(analysis: DocumentAnalysis): readonly Mistake[] {
  return trainers(analysis).flatMap((site): readonly Mistake[] => {
    const list = lastList(site);
    const pod = podSites(analysis).find(({ podSet }) => podSet === site.podSet);
    const timed = words(site).some(({ text }) =>
      /secs|seconds|minutes|hours|time_interval|save.(steps|interval|every)|every.n/.test(text),
    );
    const flag = directoryFlag(site);
    if (list === undefined || pod === undefined || timed || flag === undefined) return [];
    const lasts = claimOf(site, flag.directory) !== undefined && site.workload.podSets.length === 1;
    const moves = onSpotAlready(site) ? [[]] : lasts ? onSpot(pod).map(({ steps }) => steps) : [];
    const rare = ['--save_checkpoints_secs=7200', 'exp_manager.checkpoint_callback_params.train_time_interval.hours=2'];
    // Steps become time where the config says how long one takes, unless others are there already, which may be fewer.
    const counted = words(site).some(({ text }) => /save|interval|every|max.steps/.test(text));
    const place = { path: [...list.path, list.length], part: 'value' } as const;
    return moves.flatMap((steps): readonly Mistake[] => [
      ...(counted
        ? []
        : [
            {
              name: '--save_steps=900 of 3 s on spot',
              steps: [...steps, append(list.path, '--save_steps=900')],
              place,
              config: '{training: {stepSeconds: 3}}',
            },
          ]),
      ...rare.map((word) => ({ name: `${word} on spot`, steps: [...steps, append(list.path, word)], place })),
    ]);
  });
}

function resumeDisabled(analysis: DocumentAnalysis): readonly Mistake[] {
  return trainers(analysis).flatMap((site): readonly Mistake[] => {
    const list = lastList(site);
    if (list === undefined || (site.workload.retries?.limit ?? 0) === 0) return [];
    if (words(site).some(({ text }) => /resume|load/.test(text))) return [];
    const off = [
      '--resume_from_checkpoint=false',
      '--overwrite_output_dir=true',
      '--overwrite_output_dir',
      'exp_manager.resume_if_exists=false',
    ];
    return off.map((flag) => ({
      name: flag,
      steps: [append(list.path, flag)],
      place: { path: [...list.path, list.length], part: 'value' },
    }));
  });
}

function cpuPodOnGpuNode(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ pod, podSet, workload, first, root }): readonly Mistake[] => {
    const holders = workload.podSets.flatMap(({ containers }) =>
      containers.filter((one) => one.accelerators.length > 0),
    );
    const marks = [
      ...podSet.annotations,
      ...podSet.labels,
      ...workload.manifest.annotations,
      ...workload.manifest.labels,
    ];
    if (
      holders.length !== 1 ||
      !isWhole(workload) ||
      workload.podSets.some(({ accelerators }) => accelerators.length > 1)
    )
      return [];
    if (
      ['schedulerName', 'resourceClaims'].some((field) => getIn(root, ...pod, field) !== undefined) ||
      marks.some(({ at: mark }) => /gpu|kueue|kai|runai/i.test(String(mark.step)))
    )
      return [];
    if (podSet.volumes.some(({ source }) => source === 'hostPath') || getIn(root, ...pod, 'hostNetwork') !== undefined)
      return [];
    if (
      holders.some(
        ({ at: place, env }) =>
          getIn(place, 'securityContext') !== undefined || env.some(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES'),
      )
    )
      return [];
    const gone = ['limits', ...(first.requested ? ['requests'] : [])].map((where) =>
      drop([...first.resources, where, first.resource]),
    );
    const selector = podSet.selectors.find(
      ({ key, values, from }) =>
        from === 'nodeSelector' && isGpuLabel(key) && values.every(({ value }) => gpusByLabel(key, value).length > 0),
    );
    if (selector !== undefined)
      return [
        {
          name: 'the accelerator taken away',
          steps: gone,
          place: { path: [...pod, 'nodeSelector', selector.key], part: 'key' },
        },
      ];
    if (podSet.selectors.length > 0 || !takesSelectors(workload)) return [];
    return [
      {
        name: 'a selector and no accelerator',
        steps: [...gone, putUnder(pod, 'nodeSelector', 'nvidia.com/gpu.product', 'NVIDIA-L4')],
        place: { path: [...pod, 'nodeSelector', 'nvidia.com/gpu.product'], part: 'key' },
      },
    ];
  });
}

function nprocPerNode(analysis: DocumentAnalysis): readonly Mistake[] {
  const commands = containerSites(analysis)
    .filter(holdsGpus)
    .flatMap((site) =>
      words(site).flatMap(({ text, path }) => {
        // The names are also those of scripts' own flags: the launcher must be there.
        const launcher = /nproc/.test(text) ? /torchrun/ : /num_processes/.test(text) ? /^accelerate$/ : /^deepspeed$/;
        const flag = /^(--(?:nproc[_-]per[_-]node|num_processes|num_gpus))=(\d+)$/.exec(text);
        if (!words(site).some((word) => launcher.test(word.text))) return [];
        if (flag === null || Number(flag[2]) !== site.count) return [];
        return otherCounts(site.count).map(
          (count): Mistake => ({
            name: `${count} processes for ${site.count}`,
            steps: [set(path, `${flag[1]}=${count}`)],
            place: { path, part: 'value' },
          }),
        );
      }),
    );
  const fields = containerSites(analysis)
    .filter(holdsGpus)
    .flatMap(({ workload, root, count }) => {
      const spec: Path = ['spec'];
      const path =
        workload.kind === 'PyTorchJob'
          ? [...spec, 'nprocPerNode']
          : workload.kind === 'TrainJob'
            ? [...spec, 'trainer', 'numProcPerNode']
            : undefined;
      const written = path && getIn(root, ...path);
      if (path === undefined || Number(asText(written)) !== count) return [];
      return otherCounts(count).map(
        (other): Mistake => ({
          name: `${String(path.at(-1))} ${other} for ${count}`,
          steps: [set(path, asNumber(written) === undefined ? String(other) : other)],
          place: { path, part: 'value' },
        }),
      );
    });
  return [...commands, ...fields];
}

function shmMissing(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(holdsGpus)
    .flatMap(({ path, container, podSet, workload, count, resources }): readonly Mistake[] => {
      const index = container.volumeMounts.findIndex(({ mountPath }) => mountPath === '/dev/shm');
      const left = podSet.volumes.findIndex(({ name }) => name === container.volumeMounts[index]?.name);
      const several = count > 1 && /torchrun|tensor-parallel|mpirun/.test(startedBy(workload, container).join(' '));
      if (index < 0 || !several || !isWhole(workload) || workload.kind.startsWith('Ray')) return [];
      return [
        {
          name: 'nothing at /dev/shm',
          steps: [dropItem([...path, 'volumeMounts', index])],
          // The volume is still in memory, and its name says for what.
          place: isForShm(podSet.volumes[left])
            ? { path: [...path.slice(0, -2), 'volumes', left, 'name'], part: 'value' }
            : { path: resources, part: 'key' },
        },
      ];
    });
}

function isForShm(volume: Volume | undefined): boolean {
  return (
    volume?.source === 'emptyDir' &&
    /shm/.test(volume.name) &&
    asText(getIn(volume.at, 'emptyDir', 'medium')) === 'Memory'
  );
}

function spotNoRetry(analysis: DocumentAnalysis): readonly Mistake[] {
  return [...spotJobs(analysis), ...spotReplicas(analysis)];
}

/** Jobs of the training operator with one kind of replicas, put on spot, that never restart a pod. */
function spotReplicas(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis)
    .filter(({ workload }) => workload.apiVersion.startsWith('kubeflow.org/') && workload.podSets.length === 1)
    .filter(({ first: site }) => claimOf(site, directoryFlag(site)?.directory ?? '') !== undefined)
    .flatMap((site) => {
      const replica = site.pod.slice(0, -2);
      return onSpot(site).map(
        ({ name, steps }): Mistake => ({
          name: `${name}, restartPolicy Never`,
          steps: [...steps, ...put(replica, 'restartPolicy', 'Never')],
          place: { path: [...replica, 'restartPolicy'], part: 'key' },
        }),
      );
    });
}

function spotJobs(analysis: DocumentAnalysis): readonly Mistake[] {
  const jobs = manifestsOf(analysis, 'Job').filter(({ manifest }) => manifest.apiVersion === 'batch/v1');
  return jobs.flatMap(({ manifest, path }): readonly Mistake[] => {
    const spot = podSites(analysis).some(
      (site) => site.workload.manifest === manifest && site.podSet.placement.capacity === 'spot',
    );
    if (!spot || analysis.workloads.some((one) => one.manifest === manifest && !isWhole(one))) return [];
    const spec = [...path, 'spec'];
    const failing = { rules: [{ action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget' }] }] };
    return [
      {
        name: 'backoffLimit 0',
        steps: put(spec, 'backoffLimit', 0),
        place: { path: [...spec, 'backoffLimit'], part: 'key' },
      },
      {
        name: 'a policy that fails on disruptions',
        // Such a policy requires it.
        steps: [
          ...put(spec, 'podFailurePolicy', failing),
          ...put([...spec, 'template', 'spec'], 'restartPolicy', 'Never'),
        ],
        place: { path: [...spec, 'podFailurePolicy', 'rules', 0, 'action'], part: 'value' },
      },
    ];
  });
}

function spotSelectorToleration(analysis: DocumentAnalysis): readonly Mistake[] {
  const key = 'kubernetes.azure.com/scalesetpriority';
  return podSites(analysis).flatMap(({ pod, podSet, workload }): readonly Mistake[] => {
    const place = { path: [...pod, 'nodeSelector', key], part: 'key' } as const;
    const own = podSet.tolerations.findIndex((one) => one.key?.value === key);
    const alone: Mistake = {
      name: 'a toleration alone',
      steps: [appendUnder(pod, 'tolerations', { key, operator: 'Equal', value: 'spot', effect: 'NoSchedule' })],
      place: { path: [...pod, 'tolerations', podSet.tolerations.length, 'key'], part: 'value' },
    };
    if (own < 0 && podSet.selectors.length === 0 && isWhole(workload) && !workload.byShape && workload.role === 'batch')
      return [alone];
    if (podSet.placement.capacity === 'spot' && own >= 0)
      return [{ name: 'the toleration taken away', steps: [dropItem([...pod, 'tolerations', own])], place }];
    // For the others spot itself would be told as well.
    const indifferent = workload.role === 'batch' || workload.role === 'unknown';
    if (
      !indifferent ||
      workload.partial ||
      podSet.selectors.length > 0 ||
      podSet.tolerations.some((one) => one.key === undefined)
    )
      return [];
    return [{ name: 'a spot selector alone', steps: [putUnder(pod, 'nodeSelector', key, 'spot')], place }];
  });
}

/** A job that could stay on spot, taken off it. */
function spotCandidate(analysis: DocumentAnalysis): readonly Mistake[] {
  const key = 'karpenter.sh/capacity-type';
  return podSites(analysis).flatMap(({ root, pod, podSet, workload, first }): readonly Mistake[] => {
    const where = [...pod, 'nodeSelector', key];
    const flag = directoryFlag(first);
    const lasts = flag !== undefined && claimOf(first, flag.directory) !== undefined;
    if (workload.role !== 'training' || asText(getIn(root, ...where)) !== 'spot' || !lasts) return [];
    // Without a price there is nothing to say.
    if ((workload.retries?.limit ?? 0) === 0 || analysis.costOf(workload).cost === null) return [];
    if (podSet.selectors.length < 2) return [];
    const place = { path: [...pod, 'nodeSelector'], part: 'key' } as const;
    return [
      { name: 'on demand', steps: [set(where, 'on-demand')], place },
      { name: 'no word of capacity', steps: [drop(where)], place },
    ];
  });
}

/** A job on spot that keeps its progress, and then does not. */
function spotLosesClaim(analysis: DocumentAnalysis): readonly Mistake[] {
  return trainers(analysis).flatMap((site): readonly Mistake[] => {
    const flag = directoryFlag(site);
    const claim = flag && claimOf(site, flag.directory);
    const { podSet, workload } = site;
    const others = podSet.volumes.filter(({ source }) => source !== 'emptyDir').length > 1;
    if (claim === undefined || others || workload.podSets.length > 1) return [];
    const lost = [drop([...claim.path, 'persistentVolumeClaim']), add(claim.path, 'emptyDir', {})];
    const selector = podSet.selectors.find(({ key }) => /capacity|spot/.test(key));
    const pod = podSites(analysis).find((one) => one.podSet === podSet);
    if (pod === undefined || words(site).some(({ text }) => /:\/\//.test(text))) return [];
    if (podSet.placement.capacity === 'spot' && selector?.from === 'nodeSelector')
      return [
        {
          name: 'on spot, progress on an emptyDir',
          steps: lost,
          place: { path: [...pod.pod, 'nodeSelector', selector.key], part: 'key' },
        },
      ];
    return onSpot(pod).map((mistake) => ({
      ...mistake,
      name: `${mistake.name}, progress on an emptyDir`,
      steps: [...lost, ...mistake.steps],
    }));
  });
}

/** Containers that train, with a command line of plain words. */
function trainers(analysis: DocumentAnalysis): readonly ContainerSite[] {
  return containerSites(analysis).filter(({ workload, container, listed }) => {
    const line = [...container.command, ...container.args];
    if (workload.role !== 'training' || !isWhole(workload) || !listed || container.type !== 'app') return false;
    if (/bench|nccl|test|burn|smoke|hello/.test(workload.name ?? '') || line.some(({ at: place }) => place.shared))
      return false;
    return (
      container.command.length > 0 &&
      line.every(({ value }) => !/[\s$;{]|^-l?c$/.test(value)) &&
      /torchrun|python|accelerate/.test(line[0]?.value ?? '')
    );
  });
}

function words({ container: { command, args } }: ContainerSite): readonly Word[] {
  return [...command, ...args].map(({ value, at: place }) => ({ text: value, path: pathOf(place) }));
}

function lastList({ container, path }: ContainerSite): { readonly path: Path; readonly length: number } | undefined {
  const { command, args } = container;
  const key = args.length > 0 ? 'args' : 'command';
  const length = key === 'args' ? args.length : command.length;
  return items(getIn(container.at, key)).length === length ? { path: [...path, key], length } : undefined;
}

/** `--output_dir=/ckpt/run`, or the same in two words. */
function directoryFlag(site: ContainerSite): (Word & { readonly directory: string }) | undefined {
  const all = words(site);
  return all.flatMap((word, index) => {
    const flag = /^--(?:output|save|checkpoint)[_-]dir(?:=(\/.+))?$/.exec(word.text);
    const directory = flag?.[1] ?? all[index + 1]?.text;
    return flag === null || directory?.startsWith('/') !== true ? [] : [{ ...word, directory }];
  })[0];
}

function claimOf({ container, podSet }: ContainerSite, directory: string) {
  const mount = container.volumeMounts.find(({ mountPath }) => directory.startsWith(mountPath));
  const volume = podSet.volumes.find(({ name }) => name === mount?.name);
  if (mount === undefined || volume?.source !== 'persistentVolumeClaim' || volume.at.shared) return undefined;
  return { mountPath: mount.mountPath, path: pathOf(volume.at) };
}

/** What starts the processes of a container: its own command, or its launcher's. */
function startedBy({ kind, podSets }: ContainerSite['workload'], own: ContainerSite['container']): readonly string[] {
  const containers = kind === 'MPIJob' ? podSets.flatMap((podSet) => podSet.containers) : [own];
  return containers.flatMap(({ command, args }) => [...command, ...args].map(({ value }) => value));
}

function holdsGpus({ resource, listed, workload }: ContainerSite): boolean {
  return resource === 'nvidia.com/gpu' && (listed || workload.kind === 'TrainJob');
}

function onSpotAlready({ workload }: ContainerSite): boolean {
  return workload.podSets.some(({ placement }) => placement.capacity === 'spot');
}

function otherCounts(count: number): readonly number[] {
  return [count * 2, Math.floor(count / 2)].filter((other) => other > 0 && other !== count);
}
