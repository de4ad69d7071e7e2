import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { instanceType } from '../../server/src/catalog/index.ts';
import { doesNothing } from '../../server/src/command/waiting.ts';
import { cpuStepOf } from '../../server/src/evidence/cpu-steps.ts';
import { mayUseOtherGpus } from '../../server/src/evidence/gpu-assignment.ts';
import { wholeGpus } from '../../server/src/evidence/launch.ts';
import { weightsSize } from '../../server/src/memory/weights.ts';
import { processInput } from '../../server/src/model/process-input.ts';
import { servedModel } from '../../server/src/model/served-model.ts';
import { getIn, items } from '../../server/src/yaml/cursor.ts';
import { type ContainerSite, containerSites, isWhole, podSites } from './sites.ts';
import { add, append, type Mistake, type Path, type Planters, put, putUnder, type Step, set, write } from './steps.ts';

export const planters: Planters = {
  'privileged-gpu': privilegedGpu,
  'visible-devices-bypass': visibleDevices,
  'hidden-gpus': hiddenGpus,
  'nccl-disabled': ncclDisabled,
  'env-misspelled': misspelled,
  'env-value': wrongValue,
  'env-reference': definedLater,
  'cpu-starved-accelerators': coresStarved,
  'host-memory-too-small': memoryStarved,
  'value-not-string': valueNotString,
};

// Mistakes in what containers are told besides their command.

function privilegedGpu(analysis: DocumentAnalysis): readonly Mistake[] {
  return (
    containerSites(analysis)
      .filter(({ workload, resource, listed }) => isJudged(workload) && listed && /^(nvidia|amd)\.com/.test(resource))
      .filter((site) => !hasNodeToItself(site))
      // The API server rejects both together.
      .filter(({ root, path }) => getIn(root, ...path, 'securityContext', 'allowPrivilegeEscalation') === undefined)
      .map(({ root, path }) => {
        const owner = [...path, 'securityContext'];
        const steps =
          getIn(root, ...owner) === undefined
            ? [add(path, 'securityContext', { privileged: true })]
            : put(owner, 'privileged', true);
        return { name: 'privileged', steps, place: { path: [...owner, 'privileged'], part: 'key' } } as const;
      })
  );
}

/** All GPUs of the instance type: there is no other pod whose GPUs it would see. */
function hasNodeToItself({ podSet: { accelerators, selectors } }: ContainerSite): boolean {
  const counts = selectors.flatMap(({ key, values }) =>
    /\/instance-type$/.test(key) ? values.map(({ value }) => instanceType(value)?.gpuCount ?? 0) : [],
  );
  return accelerators.some(({ perPod }) => counts.some((count) => perPod !== null && count > 0 && perPod >= count));
}

function visibleDevices(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ workload, resource, listed }) => isJudged(workload) && listed && resource.startsWith('nvidia.com/'))
    .flatMap((site) => ['all', '0', '0,1'].map((value) => withVariable(site, 'NVIDIA_VISIBLE_DEVICES', value)));
}

function hiddenGpus(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ workload, resource, listed }) => isJudged(workload) && listed && resource === 'nvidia.com/gpu')
    .filter(({ container, podSet }) => wholeGpus(container, podSet) !== null && !mayUseOtherGpus(container))
    .filter(({ container: { env } }) => !env.some(({ name }) => name.endsWith('_VISIBLE_DEVICES')))
    .flatMap((site) => {
      const values = [String(site.count), `${site.count},0`, '-1', ...(site.count > 1 ? ['0'] : [])];
      return values.map((value) => withVariable(site, 'CUDA_VISIBLE_DEVICES', value));
    });
}

function ncclDisabled(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ workload, resource, count, listed }) => isJudged(workload) && listed && ofOwn(resource) && count > 1)
    .map((site) => withVariable(site, 'NCCL_P2P_DISABLE', '1'));
}

function wrongValue(analysis: DocumentAnalysis): readonly Mistake[] {
  const values = { PYTORCH_CUDA_ALLOC_CONF: 'max_split_size_mb=128', XLA_PYTHON_CLIENT_MEM_FRACTION: '90' };
  return containerSites(analysis)
    .filter(
      ({ workload, listed, container: { env } }) =>
        isJudged(workload) && listed && !env.some(({ name }) => name in values),
    )
    .flatMap((site) => Object.entries(values).map(([name, value]) => withVariable(site, name, value)));
}

function misspelled(analysis: DocumentAnalysis): readonly Mistake[] {
  const names = ['NCCL_SOCKET_INFAME', 'CUDA_VISIBLE_DEVICE', 'PYTORCH_CUDA_ALOC_CONF', 'HF_HUBCACHE'];
  return (
    containerSites(analysis)
      .filter(({ workload, listed }) => isJudged(workload) && listed)
      // A container that also has the correct name may convert one into the other.
      .filter(
        ({ container }) => !container.env.some(({ name }) => /^(?:NCCL_SOCKET|CUDA_VIS|PYTORCH_CUDA|HF_)/.test(name)),
      )
      .flatMap((site) => names.map((name) => withVariable(site, name, '1')))
      .map(({ place, ...mistake }) => ({
        ...mistake,
        place: { path: [...place.path.slice(0, -1), 'name'], part: 'value' } as const,
      }))
  );
}

function definedLater(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ workload, listed }) => isJudged(workload) && listed)
    .map((site) => {
      const { steps, ...mistake } = withVariable(site, 'PLANTED_ADDRESS', '$(PLANTED_HOST)');
      return { ...mistake, steps: [...steps, append([...site.path, 'env'], { name: 'PLANTED_HOST', value: 'a' })] };
    });
}

function memoryStarved(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis).flatMap(({ workload, container, resource, resources }): readonly Mistake[] => {
    const served = servedModel(container, workload).model;
    // A runtime or a script may set what decides the size.
    const name = served?.open.length === 0 ? served.name : undefined;
    if (!isJudged(workload) || name === undefined || !ofOwn(resource)) return [];
    if ((weightsSize(name)?.gib ?? 0) < 13) return [];
    const request = getIn(container.resources, 'requests', 'memory') === undefined ? [] : ['requests'];
    const steps = ['limits', ...request].map((key) => putUnder(resources, key, 'memory', '2Gi'));
    return [{ name: '2Gi of memory', steps, place: { path: [...resources, 'limits', 'memory'], part: 'value' } }];
  });
}

function coresStarved(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ workload, count, request }) => isJudged(workload) && request.form === 'whole' && count >= 4)
    .filter(({ container }) => !doesNothing(processInput(container)) && cpuStepOf(container) === undefined)
    .map(({ resources, container }) => ({
      name: 'one core',
      steps: [
        putUnder(resources, 'limits', 'cpu', 1),
        ...(getIn(container.resources, 'requests', 'cpu') === undefined
          ? []
          : [set([...resources, 'requests', 'cpu'], 1)]),
      ],
      place: { path: [...resources, 'limits', 'cpu'], part: 'value' },
    }));
}

function valueNotString(analysis: DocumentAnalysis): readonly Mistake[] {
  const sites = podSites(analysis).filter(({ workload }) => !workload.byShape);
  const inSelectors = sites
    .filter(({ podSet }) => getIn(podSet.pod, 'containers')?.node.kind === 'seq')
    .flatMap(({ root, pod }): readonly Mistake[] => {
      const owner = [...pod, 'nodeSelector'];
      const path = [...owner, 'example.org/pool'];
      const added: Step =
        getIn(root, ...owner) === undefined
          ? add(pod, 'nodeSelector', { 'example.org/pool': 'x' })
          : add(owner, 'example.org/pool', 'x');
      return ['8', 'true', 'yes'].map((text) => ({
        name: `a selector of ${text}`,
        steps: [added, write(path, text)],
        place: { path, part: 'value' },
      }));
    });
  const inEnvironment = containerSites(analysis)
    .filter(
      ({ workload, podSet, listed }) => !workload.byShape && listed && getIn(podSet.pod, 'containers') !== undefined,
    )
    .map((site): Mistake => {
      const { steps, place } = withVariable(site, 'GPULINT_TEST', 'x');
      return { name: 'a variable of 8', steps: [...steps, write(place.path, '8')], place };
    });
  return [...inSelectors, ...inEnvironment];
}

function withVariable({ root, path }: ContainerSite, name: string, value: string): Mistake {
  const list = getIn(root, ...path, 'env');
  const index = items(list).length;
  const step = list === undefined ? add(path, 'env', [{ name, value }]) : append([...path, 'env'], { name, value });
  const written: Path = [...path, 'env', list === undefined ? 0 : index, 'value'];
  return { name: `${name}=${value}`, steps: [step], place: { path: written, part: 'value' } };
}

/** Definitions are judged by other things. */
function isJudged(workload: ContainerSite['workload']): boolean {
  return isWhole(workload) || (workload.role !== 'definition' && workload.role !== 'infrastructure');
}

function ofOwn(resource: string): boolean {
  return resource === 'nvidia.com/gpu' || resource === 'amd.com/gpu';
}
