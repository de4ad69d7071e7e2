import { gpusInLabel, type Vendor } from '../../catalog/index.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, getIn, isTemplated, items } from '../../yaml/cursor.ts';
import { devicesOfInstance, type ImplicitDevices } from '../implicit-devices.ts';
import { lowerContainer, lowerCount, text } from '../pod.ts';
import { byName } from '../requested-resource.ts';
import type { KindEntry, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { between, exactly, fromPodSpec, unlimitedRetries, written } from './pod-sets.ts';

/** Kinds of further operators that their shape alone does not explain. */
export const operatorKinds: readonly KindEntry[] = [
  {
    group: 'kubevirt.io',
    kinds: ['VirtualMachine'],
    words: [],
    lower: ({ root }) => lowerMachines(getIn(root, 'spec', 'template', 'spec'), running(getIn(root, 'spec'))),
  },
  {
    group: 'kubevirt.io',
    kinds: ['VirtualMachineInstance'],
    words: [],
    lower: ({ root }) => lowerMachines(getIn(root, 'spec'), exactly(1)),
  },
  {
    group: 'kubevirt.io',
    kinds: ['VirtualMachineInstanceReplicaSet'],
    words: [],
    lower: ({ root }) =>
      lowerMachines(getIn(root, 'spec', 'template', 'spec'), written(getIn(root, 'spec', 'replicas'))),
  },
  {
    group: 'pool.kubevirt.io',
    kinds: ['VirtualMachinePool'],
    words: [],
    lower: ({ root }) => {
      const spec = getIn(root, 'spec');
      const machine = getIn(spec, 'virtualMachineTemplate', 'spec', 'template', 'spec');
      return lowerMachines(machine, written(getIn(spec, 'replicas')));
    },
  },
  {
    // https://cozystack.io/docs/virtualization/gpu/
    group: 'apps.cozystack.io',
    kinds: ['VMInstance', 'VirtualMachine'],
    words: [],
    lower: ({ root }) => {
      const spec = getIn(root, 'spec');
      return spec === undefined
        ? { ...rest, podSets: [] }
        : machineWith(
            spec,
            items(getIn(spec, 'gpus')).map((device) => getIn(device, 'name')),
            running(spec),
          );
    },
  },
  {
    group: 'machinelearning.seldon.io',
    kinds: ['SeldonDeployment'],
    words: [],
    role: 'serving',
    wholeResources: true,
    lower: ({ root }) => lowerSeldon(getIn(root, 'spec')),
  },
  {
    group: 'slinky.slurm.net',
    kinds: ['NodeSet'],
    words: [],
    lower: ({ root }) => lowerNodeSet(getIn(root, 'spec')),
  },
  {
    group: 'inference.sagemaker.aws.amazon.com',
    kinds: ['InferenceEndpointConfig'],
    words: [],
    role: 'serving',
    spansPodsIf: () => false,
    lower: ({ root }) => lowerEndpoint(getIn(root, 'spec')),
  },
  {
    group: 'inference.sagemaker.aws.amazon.com',
    kinds: ['JumpStartModel'],
    role: 'serving',
    spansPodsIf: () => false,
    lower: ({ root }) => lowerJumpStart(getIn(root, 'spec')),
  },
];

const rest = { retries: null, scaling: null, partial: false } as const;

/** Each virtual machine runs in one pod with its devices. https://kubevirt.io/user-guide/compute/host-devices/ */
function lowerMachines(machine: Cursor | undefined, pods: PodCount): KindLowering {
  if (machine === undefined) return { ...rest, podSets: [] };
  const devices = getIn(machine, 'domain', 'devices');
  const named = [...items(getIn(devices, 'gpus')), ...items(getIn(devices, 'hostDevices'))];
  return machineWith(
    machine,
    named.map((device) => getIn(device, 'deviceName')),
    pods,
  );
}

/** @param devices the names of the machine's devices, one for each */
function machineWith(machine: Cursor, devices: readonly (Cursor | undefined)[], pods: PodCount): KindLowering {
  const names = devices.flatMap((device) => {
    const name = text(device);
    return name === undefined || isTemplated(name.at) || vendorOf(name.value) === null ? [] : [name];
  });
  const implicitDevices = [...new Set(names.map(({ value }) => value))].map((name): ImplicitDevices => {
    const same = names.filter(({ value }) => value === name);
    return {
      requested: byName(name),
      at: same[0]?.at,
      // A profile of a virtual GPU (GRID_T4-2Q) is a part of a card.
      ...(/-\d+[abcq]$/i.test(name) ? { form: 'shared', each: null } : { form: 'whole', each: 1 }),
      vendor: vendorOf(name),
      perPod: same.length,
      models: gpusInLabel('nvidia.com/gpu.product', modelIn(name)),
      modelFrom: 'resource-name',
    };
  });
  return {
    ...rest,
    podSets: [{ name: 'machine', pod: machine, ...noReplicas, pods, containers: [], implicitDevices }],
  };
}

const noReplicas = { metadata: undefined, replicas: undefined } as const;

/** The vendor of a graphics device; null for audio functions, network cards and other devices. */
function vendorOf(name: string): Vendor | null {
  if (/audio|usb|nvswitch|mlx|connectx/i.test(name)) return null;
  return name.startsWith('nvidia.com/') ? 'nvidia' : name.startsWith('amd.com/') ? 'amd' : null;
}

/** The product in the name of a PCI device, which starts with the chip: `GA102GL_A10`. */
function modelIn(name: string): string {
  const device = name.slice(name.indexOf('/') + 1);
  return device.replace(/^(?:GA|GH|GB|GV|GP|GM|TU|AD)\d{1,4}\w*?_/i, '').replaceAll('_', '-');
}

/** https://kubevirt.io/user-guide/compute/run_strategies/ */
function running(spec: Cursor | undefined): PodCount {
  const strategy = asText(getIn(spec, 'runStrategy'));
  if (strategy === 'Halted' || asBoolean(getIn(spec, 'running')) === false) return exactly(0);
  return strategy === 'Manual' ? between(0, 1) : exactly(1);
}

/** Every component spec is a Deployment. Its own replicas replace those of its predictor. https://docs.seldon.io/projects/seldon-core/en/latest/graph/scaling.html */
function lowerSeldon(spec: Cursor | undefined): KindLowering {
  const podSets = items(getIn(spec, 'predictors')).flatMap((predictor) =>
    items(getIn(predictor, 'componentSpecs')).flatMap((component) => {
      const replicas = getIn(component, 'replicas') ?? getIn(predictor, 'replicas') ?? getIn(spec, 'replicas');
      const scaler = getIn(component, 'hpaSpec');
      const pods =
        scaler === undefined
          ? written(replicas)
          : between(lowerCount(getIn(scaler, 'minReplicas'), 1), lowerCount(getIn(scaler, 'maxReplicas'), 1));
      return fromPodSpec(asText(getIn(predictor, 'name')) ?? 'predictor', getIn(component, 'spec'), pods, replicas);
    }),
  );
  return { ...rest, retries: unlimitedRetries, podSets, partial: true };
}

/** The daemon of Slurm is next to the other parts of its pod, formerly in it. https://github.com/SlinkyProject/slurm-operator */
function lowerNodeSet(spec: Cursor | undefined): KindLowering {
  const [pod, slurmd, replicas] = [getIn(spec, 'template', 'spec'), getIn(spec, 'slurmd'), getIn(spec, 'replicas')];
  const isOnEachNode = asText(getIn(spec, 'scalingMode'))?.toLowerCase() === 'daemonset';
  const [podSet] = fromPodSpec('slurmd', pod ?? spec, isOnEachNode ? exactly(null) : written(replicas), replicas);
  const containers = slurmd && [lowerContainer(slurmd, 'app', 'slurmd')];
  const podSets = podSet === undefined ? [] : [{ ...podSet, ...(containers && { containers }) }];
  return { ...rest, retries: unlimitedRetries, podSets, partial: true };
}

/** https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-deploy-ftm.html */
function lowerEndpoint(spec: Cursor | undefined): KindLowering {
  const worker = getIn(spec, 'worker');
  if (spec === undefined || worker === undefined) return { ...rest, podSets: [] };
  const type = text(getIn(spec, 'instanceType'));
  const replicas = getIn(spec, 'replicas');
  const podSet: PodSetSource = {
    name: 'worker',
    pod: worker,
    metadata: undefined,
    replicas,
    pods: endpointPods(spec),
    containers: [lowerContainer(worker, 'app', 'worker')],
    ...(type === undefined || isTemplated(type.at) ? {} : { instanceType: type }),
  };
  return { ...rest, retries: unlimitedRetries, podSets: [podSet] };
}

/** The server takes the GPUs of its instance. https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-deploy-js.html */
function lowerJumpStart(spec: Cursor | undefined): KindLowering {
  const server = getIn(spec, 'server');
  if (spec === undefined || server === undefined) return { ...rest, podSets: [] };
  const type = text(getIn(server, 'instanceType'));
  const replicas = getIn(spec, 'replicas');
  const podSet: PodSetSource = {
    name: 'server',
    pod: server,
    metadata: undefined,
    replicas,
    pods: endpointPods(spec),
    containers: [lowerContainer(server, 'app', 'server')],
    ...(withoutGpus.test(type?.value ?? '')
      ? {}
      : { implicitDevices: [devicesOfInstance({ kind: 'field', system: 'field', name: 'instanceType' }, type)] }),
    ...(type === undefined || isTemplated(type.at) ? {} : { instanceType: type }),
  };
  return { ...rest, retries: unlimitedRetries, podSets: [podSet] };
}

/** Families of SageMaker's instances with only CPUs. */
const withoutGpus = /^ml\.[cmrt]\d/;

/** https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-autoscaling.html */
function endpointPods(spec: Cursor): PodCount {
  const scaler = getIn(spec, 'autoScalingSpec');
  if (scaler === undefined) return written(getIn(spec, 'replicas'));
  const max = getIn(scaler, 'maxReplicaCount');
  return between(lowerCount(getIn(scaler, 'minReplicaCount'), 0), max === undefined ? null : lowerCount(max, 1));
}
