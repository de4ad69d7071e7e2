import { type GpuModel, gpus, modelByName } from '../catalog/index.ts';
import { type Devices, requestedDevices } from '../memory/fit.ts';
import { weightsSize } from '../memory/weights.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import { servedModel } from '../model/served-model.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../model/workload.ts';
import { mayBeCompleted } from './chart-pods.ts';
import { mayUseOtherGpus, spansPods } from './gpu-assignment.ts';
import { margin } from './model-fit.ts';
import { isExempt, knownRequests } from './requested-accelerators.ts';
import { hasRun } from './run-status.ts';
import { modelsOfOllama } from './stored-models.ts';

/** A model of which Ollama keeps a part in the memory of the node. */
export interface PartlyOnCpu {
  /** As written. */
  readonly name: string;
  readonly weightsGiB: number;
  readonly request: AcceleratorRequest;
  readonly devices: Devices;
  readonly gpu: GpuModel;
}

/** The largest model that is pulled into an Ollama, if its weights alone exceed the GPUs that the manifest names. */
export function partlyOnCpu(container: Container, workload: Workload, podSet: PodSet): PartlyOnCpu | undefined {
  const [request] = knownRequests(container);
  if (request === undefined || isExempt(workload) || container.type !== 'app') return undefined;
  if (mayBeCompleted(workload) || hasRun(workload.manifest)) return undefined;
  const name = modelsOfOllama(container, podSet)?.model ?? servedByOllama(container, workload);
  const devices = namedDevices(container, podSet);
  if (name === undefined || devices === undefined || spansPods(workload) || mayUseOtherGpus(container))
    return undefined;
  const weightsGiB = modelByName(name)?.basis === 'name' ? (weightsSize(name)?.gib ?? 0) : 0;
  return weightsGiB > devices.eachGiB * devices.count * margin
    ? { name, weightsGiB, request, devices, gpu: devices.gpu }
    : undefined;
}

/** GPUs of which the manifest names the model. */
export interface NamedDevices extends Devices {
  readonly gpu: GpuModel;
}

/** The whole GPUs of a container, if the manifest names their model. */
export function namedDevices(container: Container, podSet: PodSet): NamedDevices | undefined {
  const [request, ...others] = knownRequests(container);
  if (request === undefined || others.length > 0 || request.form !== 'whole') return undefined;
  const inPod = acceleratorByName(podSet.accelerators, request.resource);
  const gpu = gpus.get(inPod?.model ?? '');
  const isGuess = inPod?.modelFrom === 'config' || inPod?.modelFrom === 'hint' || inPod?.modelHint !== undefined;
  const devices = isGuess ? null : requestedDevices(inPod, request);
  return devices === null || devices.count === 0 || gpu === undefined ? undefined : { ...devices, gpu };
}

function servedByOllama(container: Container, workload: Workload): string | undefined {
  const served = servedModel(container, workload).model;
  return served?.engine === 'ollama' && served.open.length === 0 ? served.name : undefined;
}
