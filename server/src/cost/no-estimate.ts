import type { RequestedResource } from '../model/requested-resource.ts';
import type { PodNeeds } from '../model/workload.ts';

/** Why a workload has no price. `no-estimate-words.ts` has the wording. */
export type NoEstimate =
  /** The chart decides how many replicas run with these values. */
  | { readonly kind: 'chartValues' }
  | { readonly kind: 'definition' }
  | { readonly kind: 'noAccelerator' }
  /** A counter of memory or percent without a device. */
  | { readonly kind: 'partOfGpu'; readonly requested: RequestedResource }
  | { readonly kind: 'podsUnknown'; readonly podSet: string; readonly set?: UnknownCount }
  | { readonly kind: 'tooManyPods' }
  | { readonly kind: 'countUnknown'; readonly requested: RequestedResource; readonly set: UnknownCount }
  | {
      readonly kind: 'countInvalid';
      readonly requested: RequestedResource;
      readonly text: string;
      readonly tooLarge: boolean;
    }
  /** The selected GPU does not have the MIG profile; `selected` is false if no GPU has it. */
  | { readonly kind: 'noProfile'; readonly profile: string; readonly selected: boolean }
  | { readonly kind: 'sharingUnknown' }
  | { readonly kind: 'modelUnknown'; readonly requested: RequestedResource }
  /** The selected nodes have no card of the catalog with this resource. */
  | { readonly kind: 'noMatch'; readonly requested: RequestedResource }
  /** No provider in the catalog sells a device of this vendor. */
  | { readonly kind: 'vendorNotPriced'; readonly requested: RequestedResource }
  /** The request is for a part of a device, of unknown size on every model. */
  | { readonly kind: 'shareUnknown'; readonly requested: RequestedResource }
  /** No node that the pods may run on has their ephemeral storage. `largestGiB`: of its pools; null: of local disks. */
  | { readonly kind: 'storageTooSmall'; readonly neededGiB: number; readonly largestGiB: number | null }
  /** No known machine that the pods may run on has their CPU and memory. */
  | { readonly kind: 'podTooLarge'; readonly needs: PodNeeds }
  /** Reservations, flex-start and pods on Autopilot or Cloud Run have no list price. */
  | {
      readonly kind: 'capacityNotPriced';
      readonly capacity: 'reserved' | 'flex' | 'autopilot' | 'cloud-run';
      /** What says so, if it is not the pod: `cluster in Terraform`. */
      readonly sign?: string;
    }
  | {
      readonly kind: 'priceUnknown';
      readonly models: readonly string[];
      readonly devices: number;
      readonly instanceType: string | null;
      readonly provider: string | null;
      /** The only ones with a price, which have no nodes. */
      readonly sellers?: readonly string[];
      readonly spot?: SpotInstead;
    };

/** The spot price of one pod on machines without an on-demand price, in US dollars per hour. */
export interface SpotInstead {
  readonly hourly: { readonly min: number; readonly max: number };
  readonly region: string;
  readonly date: string | null;
}

/**
 * What sets a number that is not in the file: a template with the text, each matching node, the rest of a partial object, the run of its steps, or what
 * creates the object.
 */
export type UnknownCount =
  | { readonly by: 'template'; readonly text: string }
  | { readonly by: 'nodes' | 'rest' | 'run' | 'creator' | null };

/** The fact that would make an estimate possible; null if none would, as for a slice that no GPU has. */
export function missingFor(reason: NoEstimate | null): 'gpu' | 'price' | 'count' | null {
  switch (reason?.kind) {
    case 'modelUnknown':
      return 'gpu';
    case 'priceUnknown':
    case 'noMatch':
    case 'vendorNotPriced':
    case 'capacityNotPriced':
      return 'price';
    case 'podsUnknown':
    case 'tooManyPods':
    case 'countUnknown':
    case 'countInvalid':
    case 'sharingUnknown':
    case 'shareUnknown':
      return 'count';
    default:
      return null;
  }
}
