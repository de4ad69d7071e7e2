import { providerName } from '../catalog/index.ts';
import type { NoEstimate } from './no-estimate.ts';
import { modelName, requestedWords } from './requested-words.ts';

/** Why there is no price: a sentence without its full stop, for hover and reports alike. */
export function noEstimateWords(reason: NoEstimate): string {
  switch (reason.kind) {
    case 'chartValues':
      return 'How many replicas run of these values is for the chart to say';
    case 'definition':
      return 'Nothing runs from a definition by itself';
    case 'noAccelerator':
      return 'No accelerator is requested';
    case 'partOfGpu':
      return `${requestedWords(reason.requested)} is a part of a GPU, with no price`;
    case 'podsUnknown':
      return `The number of ${reason.podSet === 'pod' ? '' : `${reason.podSet} `}pods is not told`;
    case 'tooManyPods':
      return 'The number of pods is more than any cluster runs';
    case 'countUnknown': {
      const words = requestedWords(reason.requested);
      return `The number of ${reason.requested.kind === 'resource' ? words : `devices behind ${words}`} is not told`;
    }
    case 'countInvalid':
      return `${reason.text} is ${reason.tooLarge ? 'more than any node has' : 'no count'} of ${requestedWords(reason.requested)}`;
    case 'noProfile':
      return `${reason.selected ? 'The selected GPU has no' : 'No GPU has a'} MIG profile ${reason.profile}`;
    case 'sharingUnknown':
      return 'How the selected nodes share their GPUs is not told';
    case 'modelUnknown':
      return `The model behind ${requestedWords(reason.requested)} is not told`;
    case 'priceUnknown': {
      const { models, devices, instanceType, provider } = reason;
      const on = instanceType ?? (provider === null ? null : providerName(provider));
      const wanted = `${devices} × ${models.map(modelName).join(' or ')}`;
      return `The catalogue has no price for ${wanted}${on === null ? '' : ` on ${on}`}`;
    }
  }
}
