import type { RequestedResource } from '../model/requested-resource.ts';

/** Why a workload has no price. `no-estimate-words.ts` has the sentences. */
export type NoEstimate =
  /** A chart decides how many replicas run of its values. */
  | { readonly kind: 'chartValues' }
  | { readonly kind: 'definition' }
  | { readonly kind: 'noAccelerator' }
  /** A counter of memory or percent that refines no device. */
  | { readonly kind: 'partOfGpu'; readonly requested: RequestedResource }
  | { readonly kind: 'podsUnknown'; readonly podSet: string }
  | { readonly kind: 'tooManyPods' }
  | { readonly kind: 'countUnknown'; readonly requested: RequestedResource }
  | {
      readonly kind: 'countInvalid';
      readonly requested: RequestedResource;
      readonly text: string;
      readonly tooLarge: boolean;
    }
  /** The selected GPU, or any, has no such MIG profile. */
  | { readonly kind: 'noProfile'; readonly profile: string; readonly selected: boolean }
  | { readonly kind: 'sharingUnknown' }
  | { readonly kind: 'modelUnknown'; readonly requested: RequestedResource }
  | {
      readonly kind: 'priceUnknown';
      readonly models: readonly string[];
      readonly devices: number;
      readonly instanceType: string | null;
      readonly provider: string | null;
    };

/** What would make an estimate possible; null where nothing would, as for a slice that no GPU has. */
export function missingFor(reason: NoEstimate | null): 'gpu' | 'price' | 'count' | null {
  switch (reason?.kind) {
    case 'modelUnknown':
      return 'gpu';
    case 'priceUnknown':
      return 'price';
    case 'podsUnknown':
    case 'tooManyPods':
    case 'countUnknown':
    case 'countInvalid':
    case 'sharingUnknown':
      return 'count';
    default:
      return null;
  }
}
