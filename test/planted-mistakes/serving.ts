import type { DocumentAnalysis, FileAnalysis } from '../../server/src/analysis.ts';
import { instanceType } from '../../server/src/catalog/index.ts';
import { useOf } from '../../server/src/model/process-input.ts';
import { asText, getIn, keyOf } from '../../server/src/yaml/cursor.ts';
import { containerSites, isWhole, manifestsOf, podSites } from './sites.ts';
import { add, append, drop, dropItem, type Mistake, type Planters, pathOf, put, set } from './steps.ts';

export const planters: Planters = {
  'loopback-only': loopbackOnly,
  'autopilot-accelerator': autopilotAccelerator,
  'gang-missing': gangMissing,
  'host-libraries': hostLibraries,
  'mixed-gpu-models': mixedGpuModels,
  'mixed-versions': mixedVersions,
  'model-not-named': modelNotNamed,
  'probe-missing': probeMissing,
  'ray-gpus-missing': rayGpusMissing,
  'ray-limits': rayLimits,
  'rdma-memlock': rdmaMemlock,
  'rdma-missing': rdmaMissing,
  'read-only-root': readOnlyRoot,
  'rwo-many-replicas': rwoManyReplicas,
  'server-exposed': serverExposed,
  'server-port': serverPort,
  'service-selector': serviceSelector,
  'serving-unbatched': servingUnbatched,
  'shared-memory-unguarded': sharedMemoryUnguarded,
  'stranded-gpus': strandedGpus,
  'vllm-service-name': vllmServiceName,
};

// Mistakes in how servers and jobs use volumes, networks and names of their namespace.

function rwoManyReplicas(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  // Claims name no accelerators, so their documents are not analyzed.
  const isOnce = (name: string | undefined) =>
    new RegExp(`name: ${name}\\n.*\\nspec:\\n.*\\[ReadWriteOnce\\]`).test(file.text);
  return podSites(analysis).flatMap(({ workload, podSet }): readonly Mistake[] => {
    if (workload.kind !== 'StatefulSet' || !isWhole(workload)) return [];
    return podSet.volumes.flatMap(({ at }): readonly Mistake[] => {
      const name = getIn(at, 'persistentVolumeClaim', 'claimName');
      if (
        name === undefined ||
        !isOnce(asText(name)) ||
        getIn(workload.manifest.root, 'spec', 'replicas') === undefined
      )
        return [];
      return [
        { name: '4 replicas', steps: [set(['spec', 'replicas'], 4)], place: { path: pathOf(name), part: 'value' } },
      ];
    });
  });
}

function vllmServiceName(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ pod, podSet, workload }): readonly Mistake[] => {
    const server = podSet.containers.find((one) => useOf(one).program === 'vllm');
    if (server?.image === undefined || getIn(podSet.pod, 'enableServiceLinks') === undefined || !isWhole(workload))
      return [];
    const place = { path: [...pathOf(server.at), 'name'], part: 'value' } as const;
    return [{ name: 'links again', steps: [drop([...pod, 'enableServiceLinks'])], place }];
  });
}

function serverExposed(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'Service').flatMap(({ root }): readonly Mistake[] => {
    const spec = getIn(root, 'spec');
    const isOpen = asText(getIn(spec, 'type')) === 'LoadBalancer';
    if (!isOpen || getIn(spec, 'loadBalancerSourceRanges') === undefined) return [];
    const place = { path: ['spec', 'type'], part: 'value' } as const;
    return [{ name: 'open to all', steps: [drop(['spec', 'loadBalancerSourceRanges'])], place }];
  });
}

function probeMissing(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  // A Service of the same file, with the first label of the pods.
  const hasService = (label: string) =>
    file.text
      .split(/^---/m)
      .some((one) => /^kind: Service$/m.test(one) && !/clusterIP/.test(one) && one.includes(label));
  return containerSites(analysis).flatMap(({ path, container, podSet, workload }): readonly Mistake[] => {
    const { program } = useOf(container);
    const isAlone = podSet.containers.filter(({ type }) => type !== 'init').length === 1;
    const [label] = podSet.labels;
    if ((program !== 'vllm' && program !== 'sglang') || !isAlone || label === undefined || !isWhole(workload))
      return [];
    const others = ['startupProbe', 'lifecycle'].some((key) => getIn(container.at, key) !== undefined);
    if (others || getIn(container.at, 'readinessProbe') === undefined || workload.kind !== 'Deployment') return [];
    if (!hasService(`${keyOf(label.at)}: ${label.value}`)) return [];
    const at = getIn(container.at, 'ports') === undefined ? 'name' : 'ports';
    const place = { path: [...path, at], part: 'key' } as const;
    return [{ name: 'no probe', steps: [drop([...path, 'readinessProbe'])], place }];
  });
}

function loopbackOnly(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis).flatMap(({ path, container, podSet, workload }): readonly Mistake[] => {
    const isAlone = podSet.containers.filter(({ type }) => type !== 'init').length === 1;
    const ports = getIn(container.at, 'ports');
    const { program } = useOf(container);
    const isServer = program === 'vllm' || program === 'sglang';
    const isList = container.args.length > 1 && container.args.every(({ value }) => !/\s|--host/.test(value));
    if (!isServer || workload.kind === 'Pod' || !isAlone || ports === undefined || !isList || !isWhole(workload))
      return [];
    const place = { path: [...path, 'args', container.args.length], part: 'value' } as const;
    return [{ name: '--host', steps: [append([...path, 'args'], '--host=127.0.0.1')], place }];
  });
}

function hostLibraries(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ pod, podSet, first, workload }): readonly Mistake[] => {
    const has = (key: string) =>
      getIn(first.container.at, key) !== undefined || getIn(podSet.pod, 'volumes') !== undefined;
    if (!first.listed || has('volumeMounts') || !isWhole(workload)) return [];
    const mounts = [...first.path, 'volumeMounts'];
    const steps = [
      add(first.path, 'volumeMounts', [{ name: 'lib', mountPath: '/usr/lib64' }]),
      add(pod, 'volumes', [{ name: 'lib', hostPath: { path: '/usr/lib64' } }]),
    ];
    return [{ name: '/usr/lib64', steps, place: { path: [...mounts, 0, 'mountPath'], part: 'value' } }];
  });
}

function modelNotNamed(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis).flatMap(({ path, container, podSet, workload }): readonly Mistake[] => {
    const [only, ...others] = container.args;
    const isPlain = /^vllm\/vllm-openai:/.test(container.image?.value ?? '') && /^--model=/.test(only?.value ?? '');
    if (!isPlain || others.length > 0 || podSet.containers.length > 1 || !isWhole(workload)) return [];
    const args = [...path, 'args', 0];
    return [{ name: 'no --model', steps: [set(args, '--port=8000')], place: { path: args, part: 'value' } }];
  });
}

function readOnlyRoot(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis).flatMap(({ path, container, podSet, workload, listed }): readonly Mistake[] => {
    const { program } = useOf(container);
    const isServer = program === 'vllm' || program === 'sglang';
    const mayWrite = container.volumeMounts.some(({ mountPath }) => !/shm|models/.test(mountPath));
    if (!isServer || !listed || mayWrite || podSet.containers.length > 1 || !isWhole(workload)) return [];
    if (container.env.length > 0 || ['envFrom', 'securityContext'].some((key) => getIn(container.at, key))) return [];
    const root = [...path, 'securityContext', 'readOnlyRootFilesystem'];
    const steps = [add(path, 'securityContext', { readOnlyRootFilesystem: true })];
    return [{ name: 'a read-only root', steps, place: { path: root, part: 'value' } }];
  });
}

function serverPort(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis).flatMap(({ path, container, podSet, workload }): readonly Mistake[] => {
    const isAlone = podSet.containers.filter(({ type }) => type !== 'init').length === 1;
    const words = [...container.command, ...container.args].map(({ value }) => value).join(' ');
    const isPlain = /^vllm\/vllm-openai:/.test(container.image?.value ?? '') && !/port|config|[$]/.test(words);
    if (!isPlain || !isAlone || !isWhole(workload) || container.env.length > 0) return [];
    if (getIn(container.at, 'envFrom') !== undefined || getIn(podSet.pod, 'hostNetwork') !== undefined) return [];
    return ['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((probe): readonly Mistake[] => {
      const port = [...path, probe, 'httpGet', 'port'];
      if (asText(getIn(container.at, probe, 'httpGet', 'port')) !== '8000') return [];
      return [{ name: probe, steps: [set(port, 8765)], place: { path: port, part: 'value' } }];
    });
  });
}

/** Services name no accelerators, so their documents are not analyzed. */
function serviceSelector(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ workload, podSet, root }): readonly Mistake[] => {
    const [label, ...others] = podSet.labels;
    if (workload.kind !== 'Deployment' || label === undefined || others.length > 0) return [];
    const [key, { value }] = [keyOf(label.at), label];
    if (
      !file.text.includes(`kind: Service\nmetadata:\n  name: ${workload.name}\nspec:\n  selector: {${key}: ${value}}`)
    )
      return [];
    const [template, selector] = [pathOf(label.at), [...pathOf(root), 'spec', 'selector', 'matchLabels', key]];
    return [`${value}er`, value.slice(0, 1) + value.slice(2)].map((other) => ({
      name: `pods with ${other}`,
      steps: [set(template, other), set(selector, other)],
      place: { path: template, part: 'value' },
    }));
  });
}

function rdmaMissing(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ first, workload, podSet }): readonly Mistake[] => {
    const { container, resources, resource } = first;
    const efa = 'vpc.amazonaws.com/efa';
    const amounts = ['limits', 'requests'].filter((name) => getIn(container.resources, name, efa) !== undefined);
    if (!amounts.includes('limits') || workload.role !== 'training' || (podSet.pods.min ?? 0) < 2) return [];
    // The type shows that there are EFA devices, and variables may choose another network.
    const type = instanceType(podSet.placement.instanceType ?? '');
    const chosen = container.env.some(({ name }) => /^(?:FI|NCCL)_/.test(name));
    if (type?.rdma !== 'EFA' || type.gpuCount !== first.count || chosen) return [];
    const place = { path: [...resources, 'limits', resource], part: 'key' } as const;
    return [{ name: 'no EFA', steps: amounts.map((name) => drop([...resources, name, efa])), place }];
  });
}

function gangMissing(analysis: DocumentAnalysis): readonly Mistake[] {
  return analysis.workloads.flatMap((workload): readonly Mistake[] => {
    const { kind, podSets, manifest } = workload;
    const devices = podSets.reduce((sum, one) => sum + (one.pods.min ?? 0) * (one.accelerators[0]?.devices ?? 0), 0);
    const [label, ...others] = [...manifest.labels, ...manifest.annotations];
    if (!/^(?:PyTorch|JAX)Job$/.test(kind) || devices < 8 || label === undefined || others.length > 0) return [];
    if (keyOf(label.at) !== 'kueue.x-k8s.io/queue-name' || !isWhole(workload)) return [];
    const path = pathOf(manifest.root);
    const place = { path: [...path, 'metadata', 'name'], part: 'value' } as const;
    return [{ name: 'no queue', steps: [drop([...path, 'metadata', 'labels'])], place }];
  });
}

function servingUnbatched(analysis: DocumentAnalysis): readonly Mistake[] {
  const services = manifestsOf(analysis, 'InferenceService').flatMap(({ path, root }): readonly Mistake[] => {
    const predictor = [...path, 'spec', 'predictor'];
    const format = asText(getIn(root, ...predictor, 'model', 'modelFormat', 'name'));
    const [site] = containerSites(analysis);
    if (format !== 'huggingface' || site === undefined) return [];
    const place = { path: [...predictor, 'containerConcurrency'], part: 'value' } as const;
    return [{ name: 'one at a time', steps: put(predictor, 'containerConcurrency', 1), place }];
  });
  const flags = containerSites(analysis).flatMap(({ container }) =>
    container.args.flatMap(({ value, at }): readonly Mistake[] =>
      value === '--max-num-seqs=64'
        ? [{ name: 'a flag', steps: [set(pathOf(at), '--max-num-seqs=1')], place: { path: pathOf(at), part: 'line' } }]
        : [],
    ),
  );
  return [...services, ...flags];
}

function sharedMemoryUnguarded(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ resource }) => resource === 'nvidia.com/gpu.shared')
    .flatMap(({ container, resources, resource }) =>
      container.args.flatMap(({ value, at }): readonly Mistake[] => {
        if (!value.startsWith('--gpu-memory-utilization=')) return [];
        const place = { path: [...resources, 'limits', resource], part: 'key' } as const;
        return [{ name: 'no fraction', steps: [dropItem(pathOf(at))], place }];
      }),
    );
}

function rayLimits(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ pod, first, podSet }): readonly Mistake[] => {
    const group = pod.slice(0, -2);
    if (!first.workload.apiVersion.startsWith('ray.io/') || podSet.name === 'submitter') return [];
    if (first.request.form !== 'whole' || !/^(?:nvidia|amd)\.com\/gpu$/.test(first.resource)) return [];
    const place = { path: [...group, 'rayStartParams', 'num-gpus'], part: 'value' } as const;
    return [{ name: 'more GPUs', steps: put([...group, 'rayStartParams'], 'num-gpus', '16'), place }];
  });
}

function rayGpusMissing(analysis: DocumentAnalysis): readonly Mistake[] {
  return analysis.workloads
    .filter(({ apiVersion, kind }) => kind === 'RayJob' && apiVersion.startsWith('ray.io/'))
    .flatMap((workload): readonly Mistake[] => {
      const known = workload.podSets.every(({ accelerators }) =>
        accelerators.every(
          ({ form, requested, perPod }) =>
            form === 'whole' &&
            requested.kind === 'resource' &&
            /^(?:nvidia|amd)\.com\/gpu$/.test(requested.name) &&
            perPod !== null,
        ),
      );
      if (!known || workload.partial || workload.podSets.every(({ accelerators }) => accelerators.length === 0))
        return [];
      const place = { path: ['spec', 'entrypointNumGpus'], part: 'value' } as const;
      return [{ name: 'an entrypoint with 64 GPUs', steps: put(['spec'], 'entrypointNumGpus', 64), place }];
    });
}

function mixedVersions(analysis: DocumentAnalysis): readonly Mistake[] {
  return analysis.workloads
    .filter(({ kind }) => /^(?:LeaderWorkerSet|RayCluster)$/.test(kind))
    .flatMap((workload): readonly Mistake[] => {
      const images = workload.podSets.flatMap(({ containers }) =>
        containers.slice(0, 1).flatMap(({ image }) => image ?? []),
      );
      const [first, other] = images;
      const isSame = first?.value === other?.value && /:v?\d+\.\d+\.\d+$/.test(other?.value ?? '');
      if (first === undefined || other === undefined || images.length > 2 || !isSame || !isWhole(workload)) return [];
      const changed = other.value.replace(/\d+$/, (patch) => `${Number(patch) + 1}`);
      const path = pathOf(other.at);
      return [{ name: changed, steps: [set(path, changed)], place: { path, part: 'value' } }];
    });
}

function mixedGpuModels(analysis: DocumentAnalysis): readonly Mistake[] {
  const product = 'nvidia.com/gpu.product';
  return analysis.workloads
    .filter(({ kind }) => /^(?:PyTorch|JAX|TF)Job$/.test(kind))
    .flatMap((workload): readonly Mistake[] => {
      const [one, other] = podSites(analysis).filter((site) => site.workload === workload);
      if (one === undefined || other === undefined || !isWhole(workload)) return [];
      const plain = [one, other].every(
        ({ podSet, first }) =>
          getIn(podSet.pod, 'nodeSelector') === undefined &&
          podSet.selectors.length === 0 &&
          first.resource === 'nvidia.com/gpu' &&
          first.count === 1,
      );
      if (!plain) return [];
      const steps = [
        ...put(one.pod, 'nodeSelector', { [product]: 'NVIDIA-H100-80GB-HBM3' }),
        ...put(other.pod, 'nodeSelector', { [product]: 'NVIDIA-L4' }),
      ];
      return [{ name: 'two models', steps, place: { path: [...other.pod, 'nodeSelector', product], part: 'key' } }];
    });
}

function autopilotAccelerator(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ podSet, workload, first: { resource, resources } }): readonly Mistake[] => {
    if (podSet.selectors.length > 0 || !isWhole(workload) || resource !== 'nvidia.com/gpu') return [];
    if (podSet.containers.filter(({ accelerators }) => accelerators.length > 0).length > 1) return [];
    const place = { path: [...resources, 'limits', resource], part: 'key' } as const;
    return [{ name: 'no GPU is named', steps: [], place, config: 'platform: gke-autopilot' }];
  });
}

function rdmaMemlock(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ container, workload, listed }) => {
      return listed && isWhole(workload) && getIn(container.at, 'securityContext') === undefined;
    })
    .map(({ resources }): Mistake => {
      const limits = [...resources, 'limits'];
      return {
        name: 'rdma/ib',
        steps: [add(limits, 'rdma/ib', 1)],
        place: { path: [...limits, 'rdma/ib'], part: 'key' },
      };
    });
}

function strandedGpus(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ podSet, first, workload }): readonly Mistake[] => {
    const whole = podSet.placement.instanceType === 'p5.48xlarge' && first.count === 8 && !first.requested;
    if (!whole || first.resource !== 'nvidia.com/gpu' || !isWhole(workload)) return [];
    const path = [...first.resources, 'limits', first.resource];
    return [{ name: '5 of 8', steps: [set(path, 5)], place: { path, part: 'value' } }];
  });
}
