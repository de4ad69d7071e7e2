import type { Inherited } from '../model/referenced.ts';
import type { RequestedResource } from '../model/requested-resource.ts';
import type { Capacity } from '../model/workload.ts';

/** What an estimate takes for granted where the object itself leaves it open. `assumption-words.ts` has the sentences. */
export type Assumption =
  /** What a template leaves open is from another file. */
  | { readonly kind: 'readWith'; readonly file: string }
  | ({ readonly kind: 'inherited' } & Inherited)
  /** Nothing bounds the replicas: so many pods are counted. */
  | { readonly kind: 'unbounded'; readonly podSet: string; readonly pods: number }
  | { readonly kind: 'gpu'; readonly model: string; readonly nodePool: string | null; readonly from: 'config' }
  /** A selector that several models fit: each counts in the range. */
  | { readonly kind: 'models'; readonly models: readonly string[] }
  | { readonly kind: 'provider'; readonly provider: string; readonly from: 'config' }
  /** No provider is known: each counts in the range. */
  | { readonly kind: 'providers' }
  | { readonly kind: 'region'; readonly region: string; readonly from: 'default' | 'config' }
  | {
      readonly kind: 'otherRegion';
      readonly pricing: 'on-demand' | 'spot';
      readonly wanted: string;
      readonly region: string;
    }
  | { readonly kind: 'capacity'; readonly capacity: Capacity; readonly from: 'default' | 'config' }
  /** No price for the capacity: on-demand counts. */
  | { readonly kind: 'onDemand'; readonly wanted: 'spot' | 'reserved' | 'flex' }
  /** One of the resource is a part of a card. */
  | {
      readonly kind: 'share';
      readonly requested: RequestedResource;
      readonly form: 'mig' | 'whole' | 'shared';
      readonly share: number;
    }
  | { readonly kind: 'podsPerGpu'; readonly pods: number; readonly from: 'config' }
  | { readonly kind: 'discount'; readonly percent: number; readonly from: 'config' }
  /** The spot amount is that of another machine than the basis names. */
  | {
      readonly kind: 'spotElsewhere';
      readonly provider: string | null;
      readonly instanceType: string;
      readonly cards: number;
      readonly hourly: number;
      readonly date: string | null;
    };
