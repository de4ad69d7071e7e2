import { either, oneOf } from '../catalog/word-patterns.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, Manifest, PodSet, Workload } from '../model/workload.ts';
import { asText, getIn } from '../yaml/cursor.ts';
import { gpuImage, toleratesGpuNodes } from './gpu-programs.ts';
import { checkpointSigns } from './launch.ts';
import { keepsNowhereElse, losesResults, redirectsPaths } from './lost-results.ts';
import { neededGpu } from './needed-gpu.ts';
import { mayMountMore, runsMountedScript, volumeNamed } from './volume-lifetime.ts';

/**
 * Whether a job that trains has no place for what it saves: no volume in any of its pods outlives them, and nothing that is written shows another
 * place. Its code may still upload the results.
 */
export function hasNoLastingPlace(
  container: Container,
  podSet: PodSet,
  workload: Workload,
  document: Manifest['document'],
): boolean {
  const { apiVersion, kind, podSets, retries } = workload;
  if (podSet !== podSets[0] || kind === 'Experiment' || !ownGroups.test(groupOf(apiVersion))) return false;
  const needs = neededGpu(container, workload.name ?? '', document) !== undefined || gpuImage(container) !== undefined;
  const isForGpus = needs || toleratesGpuNodes(podSet) || container.env.some(({ name }) => ofAmd.test(name));
  if (!isForGpus && !namesAccelerators(workload)) return false;
  if ((retries === null || retries.limit === 0) && !losesResults(container, podSet, workload)) return false;
  if (runsMountedScript(container, podSet)) return false;
  const names = [workload.name ?? '', container.name ?? '', container.image?.value.split('/').at(-1) ?? ''];
  if (names.some((one) => trials.test(one.toLowerCase())) || !runsProgram(container)) return false;
  if (redirectsPaths(container) || checkpointSigns(container).some((sign) => sign.kind !== 'resume')) return false;
  return podSets.every(({ containers }) => containers.every(hasNoPlace)) && keepsNowhereElse(container, podSet);

  function hasNoPlace(one: Container): boolean {
    const set = podSets.find(({ containers }) => containers.includes(one)) ?? podSet;
    return (
      !mayMountMore(one) &&
      one.volumeMounts.every(({ name }) => {
        const volume = volumeNamed(set, name);
        if (volume?.source === 'configMap') return true;
        return volume?.source === 'emptyDir' && asText(getIn(volume.at, 'emptyDir', 'medium')) === 'Memory';
      })
    );
  }
}

/** Whether the command runs the project's program: an inline script may only show something, and of an image by itself only the name is known. */
function runsProgram(container: Container): boolean {
  const { command, args } = container;
  if (command.length === 0 && args.length === 0) return false;
  if ([...command, ...args].some(({ value }) => rehearses.test(value))) return false;
  return commandsIn(container).every(
    ({ words, heredoc }) => heredoc === undefined && words.every(({ text }) => text !== '-c'),
  );
}

const ofAmd = /^(?:HIP|HSA|ROCR)_/;

const ownGroups = either(/^(?:batch|kubeflow\.org)?$/, /^jobset\.x-k8s\.io$/);

/** Runs whose result nobody needs; in lower case. */
const trials = new RegExp(
  `(?:^|[-_./\\d])(?:${oneOf(
    'mnist fashion cifar\\d* demo example examples sample samples tutorial quickstart hello test tests toy dummy smoke bench benchmark',
    'profile profiling imagenet resnet\\d* debug',
  )})(?:$|[-_./:\\d])`,
);

const rehearses = /--?(?:dry[-_]run|fast[-_]dev[-_]run|smoke|synthetic|benchmark|max[-_]steps[= ]\d{1,2}\b)/;
