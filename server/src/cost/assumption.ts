import type { CloudSign } from '../model/cloud-sign.ts';
import type { Inherited } from '../model/referenced.ts';
import type { RequestedResource } from '../model/requested-resource.ts';
import type { Capacity, ModelHint } from '../model/workload.ts';

/** From the lowest price to the highest. */
interface Amount {
  readonly min: number;
  readonly max: number;
}

/** A value that an estimate assumes because the object does not set it. `assumption-words.ts` has the wording. */
export type Assumption =
  /** Values missing from a template come from another file. */
  | { readonly kind: 'readWith'; readonly file: string }
  | ({ readonly kind: 'inherited' } & Inherited)
  /** An earlier revision runs next to this one, with pods that the estimate does not count. */
  | { readonly kind: 'otherRevision'; readonly field: string }
  /** The price is that of the machine on EC2. */
  | { readonly kind: 'sageMaker' }
  /** A schedule sets the replicas. US dollars per month. */
  | { readonly kind: 'average'; readonly replicas: number; readonly monthly: Amount }
  /** The replicas have no upper bound; `pods` are priced. */
  | { readonly kind: 'unbounded'; readonly podSet: string; readonly pods: number }
  | { readonly kind: 'gpu'; readonly model: string; readonly nodePool: string | null; readonly from: 'config' }
  /** A name or a comment suggests the model. */
  | { readonly kind: 'hint'; readonly models: readonly string[]; readonly hint: ModelHint }
  /** A selector matches several models; the range covers each. */
  | { readonly kind: 'models'; readonly models: readonly string[] }
  /** Alternatives that the object names, but that have no price where it runs: at one provider, if it may run at several. */
  | { readonly kind: 'unpriced'; readonly models: readonly string[]; readonly provider?: string | null }
  | { readonly kind: 'provider'; readonly provider: string; readonly from: 'config' }
  /** Signs in the object suggest the provider. */
  | { readonly kind: 'sign'; readonly sign: CloudSign; readonly isRegion?: true }
  /** The provider is unknown; the range covers each, or each that a tool supports. */
  | { readonly kind: 'providers'; readonly tool?: string }
  | { readonly kind: 'region'; readonly region: string; readonly from: 'default' | 'config' }
  /** No price for the region of the pods; another region's price applies. */
  | {
      readonly kind: 'otherRegion';
      readonly pricing: 'on-demand' | 'spot';
      readonly region: string;
      readonly pricedRegion: string;
    }
  /** The price of the region applies to a zone with its own prices. */
  | { readonly kind: 'edgeZone'; readonly zone: string; readonly region: string }
  /** Whether the nodes have the ephemeral storage that the pods request is unknown. */
  | { readonly kind: 'storage' }
  | { readonly kind: 'capacity'; readonly capacity: Capacity; readonly from: 'default' | 'config' }
  /** Spot nodes come first. US dollars per hour and pod. */
  | { readonly kind: 'spotFirst'; readonly spot: Amount; readonly onDemand: Amount; readonly isFirst: boolean }
  /** The pods may also run on capacity without a list price. */
  | { readonly kind: 'unlisted'; readonly capacities: readonly ('reserved' | 'flex')[] }
  /** The price of the machines is without Autopilot's premium. */
  | { readonly kind: 'premium' }
  /** No price for the capacity type; the on-demand price applies. */
  | { readonly kind: 'onDemand'; readonly capacity: 'spot' }
  /** One unit of the resource is a share of a GPU. */
  | {
      readonly kind: 'share';
      readonly requested: RequestedResource;
      readonly form: 'mig' | 'whole' | 'shared';
      readonly share: number;
    }
  /** Identical pods leave devices of the machine unused. */
  | {
      readonly kind: 'stranded';
      readonly instanceType: string;
      readonly cards: number;
      readonly devices: number;
      readonly unused: number;
    }
  /** The CPU or memory of a pod takes a larger part of the machine than its devices. */
  | {
      readonly kind: 'shareOfHost';
      readonly instanceType: string;
      readonly share: number;
      readonly of: 'CPUs' | 'GiB of memory';
      readonly requested: number;
      readonly available: number;
    }
  /** The pods do not fill the TPU slices that they run on. */
  | { readonly kind: 'slice'; readonly topology: string; readonly chips: number }
  | { readonly kind: 'podsPerGpu'; readonly pods: number; readonly from: 'config' }
  | { readonly kind: 'discount'; readonly percent: number; readonly from: 'config' }
  | { readonly kind: 'commitment'; readonly term: '1-year' | '3-years'; readonly from: 'config' }
  /** The project commits itself, but the price sheet has no such price of the machine. */
  | { readonly kind: 'noCommitment'; readonly instanceType: string }
  /** The price is that of the project's own machine. */
  | { readonly kind: 'onPrem'; readonly from: 'config' }
  /** The price is the sum of the project's prices of GPUs, CPUs and memory. */
  | { readonly kind: 'rates'; readonly from: 'config' }
  /** The spot amount is for a different instance type than the basis. */
  | {
      readonly kind: 'spotElsewhere';
      readonly provider: string | null;
      readonly instanceType: string;
      readonly cards: number;
      readonly hourly: number;
      readonly date: string | null;
    };
