import {
  acceleratorResource,
  instanceType as machineNamed,
  maxGpusPerInstance,
  providerName,
} from '../catalog/index.ts';
import type { RequestedResource } from '../model/requested-resource.ts';
import { shorten } from '../yaml/shorten.ts';
import { dateWords } from './assumption-words.ts';
import { formatGiB, formatHourly, formatNumber } from './money.ts';
import type { NoEstimate, SpotInstead, UnknownCount } from './no-estimate.ts';
import { modelName, requestedWords } from './requested-words.ts';
import { saleWords } from './sale-words.ts';

/** Why there is no price, for hovers and reports: a sentence without its period. */
export function noEstimateWords(reason: NoEstimate): string {
  switch (reason.kind) {
    case 'chartValues':
      return 'The chart decides how many replicas run';
    case 'definition':
      return 'A definition runs nothing on its own';
    case 'noAccelerator':
      return 'No accelerator requested';
    case 'partOfGpu':
      return `Price unknown: ${requestedWords(reason.requested)} requests only part of a GPU`;
    case 'podsUnknown':
      return countWords(`${/^pods?$/.test(reason.podSet) ? '' : `${reason.podSet} `}pods`, reason.set);
    case 'tooManyPods':
      return 'More pods than any cluster can run';
    case 'countUnknown':
      return `${countWords('devices', reason.set)} (${requestedWords(reason.requested)})`;
    case 'countInvalid': {
      const problem = reason.tooLarge ? 'more than any node has' : 'not a valid count';
      return `${requestedWords(reason.requested)} ${reason.text} is ${problem}`;
    }
    case 'noProfile':
      return `${reason.selected ? 'The selected GPU has no' : 'No GPU has the'} MIG profile ${reason.profile}`;
    case 'sharingUnknown':
      return 'GPU sharing on the selected nodes unknown';
    case 'modelUnknown':
      return `${nounFor(reason.requested)} model unknown (${requestedWords(reason.requested)})`;
    case 'noMatch':
      return `The catalog does not have the ${nounFor(reason.requested, 'accelerator')} of the selected nodes (${requestedWords(reason.requested)})`;
    case 'vendorNotPriced':
      return `The catalog has no price for any device of ${requestedWords(reason.requested)}`;
    case 'shareUnknown':
      return `Share of the device unknown (${requestedWords(reason.requested)})`;
    case 'storageTooSmall': {
      const { neededGiB, largestGiB } = reason;
      const nodes =
        largestGiB === null
          ? 'no selected machine has local disks that large'
          : `its nodes have only ${formatNumber(largestGiB)} GiB disks`;
      return `A pod requests ${formatNumber(neededGiB)} GiB of ephemeral storage, but ${nodes}`;
    }
    case 'podTooLarge': {
      const { cpu, memoryGiB } = reason.needs;
      const parts = [
        ...(cpu > 0 ? [`${formatNumber(cpu)} CPUs`] : []),
        ...(memoryGiB > 0 ? [`${formatGiB(memoryGiB)} GiB of memory`] : []),
      ];
      return `A pod requests ${parts.join(' and ')}, more than any eligible machine has`;
    }
    case 'capacityNotPriced':
      return `${capacityWords[reason.capacity]}${reason.sign === undefined ? '' : ` (inferred from ${reason.sign})`}`;
    case 'priceUnknown':
      return `${priceWords(reason)}${reason.spot === undefined ? '' : `; ${spotWords(reason.spot)}`}`;
  }
}

function priceWords(reason: Extract<NoEstimate, { kind: 'priceUnknown' }>): string {
  const { models, devices, instanceType, provider } = reason;
  const cards = machineNamed(instanceType ?? '')?.gpuCount;
  if (cards != null && cards >= 1 && cards < devices)
    return `Price unknown: ${instanceType} has ${cards} ${cards === 1 ? 'device' : 'devices'}, and a pod requests ${devices}`;
  const most = Math.max(...models.map((model) => maxGpusPerInstance(model) ?? Infinity));
  if (most < devices)
    return `Price unknown: no machine has more than ${most} × ${models.map(modelName).join(' or ')}, and a pod requests ${devices}`;
  const sale = saleWords(reason);
  if (sale !== undefined) return sale;
  const on = instanceType ?? (provider === null ? null : providerName(provider));
  const requested = `${devices} × ${models.map(modelName).join(' or ')}`;
  const [seller, ...others] = reason.sellers ?? [];
  if (on === null && seller !== undefined && others.length === 0)
    return `The catalog has no price for ${requested}: only ${providerName(seller)} sells it, which has no Kubernetes nodes`;
  const kind = reason.spot === undefined ? 'price' : 'on-demand price';
  return `The catalog has no ${kind} for ${requested}${on === null ? '' : ` on ${on}`}`;
}

/** `$13.27/h per pod on spot in us-central1, as of 2026-08-20`. */
function spotWords({ hourly, region, date }: SpotInstead): string {
  const place = region === '' || region === 'all' || region === 'global' ? '' : ` in ${region}`;
  return `${formatHourly(hourly)} per pod on spot${place}, ${dateWords(date)}`;
}

function nounFor(requested: RequestedResource, otherwise = 'Accelerator'): string {
  const { name } = requested;
  const vendor = acceleratorResource(name)?.vendor ?? (/gpu/i.test(name) ? 'nvidia' : '');
  return gpuVendors.includes(vendor) ? 'GPU' : otherwise;
}

function countWords(noun: string, set: UnknownCount | undefined): string {
  switch (set?.by) {
    case 'template':
      // An alias without its anchor has no text.
      if (set.text === '') return `Number of ${noun} unknown`;
      return `Number of ${noun} unknown: a template sets it to ${shorten(set.text, 40)}`;
    case 'nodes':
      return `Number of ${noun} unknown: a DaemonSet runs one on each matching node`;
    case 'rest':
      return `Number of ${noun} unknown: the file contains only part of the object`;
    case 'run':
      return `Number of ${noun} unknown: conditions and the order of the steps decide how many run at once`;
    case 'creator':
      return `Number of ${noun} unknown: another object creates this one`;
    default:
      return `Number of ${noun} unknown`;
  }
}
const capacityWords = {
  flex: 'Flex-start capacity has no list price',
  reserved: 'Reserved capacity is priced by contract',
  autopilot: 'GKE Autopilot has its own prices, which are not in the catalog',
  'cloud-run': 'Cloud Run has its own prices, which are not in the catalog',
} as const;

const gpuVendors: readonly string[] = ['nvidia', 'amd', 'intel', 'biren', 'iluvatar', 'metax', 'moore-threads'];
