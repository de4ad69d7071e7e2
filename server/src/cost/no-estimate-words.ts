import { acceleratorResource, providerName } from '../catalog/index.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { NoEstimate } from './no-estimate.ts';
import { modelName, requestedWords } from './requested-words.ts';

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
      return `Price unknown: ${requestedWords(reason.requested)} requests only a part of a GPU`;
    case 'podsUnknown':
      return `Number of ${/^pods?$/.test(reason.podSet) ? '' : `${reason.podSet} `}pods unknown`;
    case 'tooManyPods':
      return 'More pods than any cluster can run';
    case 'countUnknown':
      return `Number of devices unknown (${requestedWords(reason.requested)})`;
    case 'countInvalid': {
      const problem = reason.tooLarge ? 'more than any node has' : 'not a valid count';
      return `${requestedWords(reason.requested)} ${reason.text} is ${problem}`;
    }
    case 'noProfile':
      return `${reason.selected ? 'The selected GPU' : 'No GPU'} has ${reason.selected ? 'no ' : ''}MIG profile ${reason.profile}`;
    case 'sharingUnknown':
      return 'GPU sharing on the selected nodes unknown';
    case 'modelUnknown': {
      const name = resourceName(reason.requested) ?? 'gpu';
      const vendor = acceleratorResource(name)?.vendor ?? (/gpu/i.test(name) ? 'nvidia' : '');
      const noun = gpuVendors.includes(vendor) ? 'GPU' : 'Accelerator';
      return `${noun} model unknown (${requestedWords(reason.requested)})`;
    }
    case 'capacityNotPriced':
      return capacityWords[reason.capacity];
    case 'priceUnknown': {
      const { models, devices, instanceType, provider } = reason;
      const on = instanceType ?? (provider === null ? null : providerName(provider));
      const requested = `${devices} × ${models.map(modelName).join(' or ')}`;
      return `The catalog has no price for ${requested}${on === null ? '' : ` on ${on}`}`;
    }
  }
}

const capacityWords = {
  flex: 'Flex-start capacity has no list price',
  reserved: 'Reserved capacity costs what its contract says',
  autopilot: 'GKE Autopilot has its own prices, which the catalog does not have',
} as const;

const gpuVendors: readonly string[] = ['nvidia', 'amd', 'intel', 'biren', 'iluvatar', 'metax', 'moore-threads'];
