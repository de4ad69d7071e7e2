import type { GpuModel, InstanceType, MigProfile, MigTable, Offer, PlatformFacts, Provider } from './types.ts';

export type * from './types.ts';

/** Every model, by catalogue id. */
export declare const gpus: ReadonlyMap<string, GpuModel>;
/** The models that a node label selects. Empty: the label is no accelerator label or its value is unknown. Sharing and MIG suffixes (-SHARED, -MIG-1g.5gb) are understood. */
export declare function gpusByLabel(key: string, value: string): readonly GpuModel[];
/** Whether the key is one that names an accelerator model (nvidia.com/gpu.product, cloud.google.com/gke-accelerator ...). */
export declare function isGpuLabel(key: string): boolean;
export declare function instanceType(name: string): InstanceType | undefined;
export declare function migTable(gpuId: string): MigTable | undefined;
/** Every GPU and profile that has this resource name (nvidia.com/mig-1g.10gb is on A100 and H100). */
export declare function migByResource(resource: string): readonly { readonly gpu: GpuModel; readonly table: MigTable; readonly profile: MigProfile }[];
/** max(compute slices / total, memory slices / total): what a profile takes of a card. */
export declare function migShare(table: MigTable, profile: MigProfile): number;
export declare function offers(query: { readonly gpu?: string; readonly provider?: Provider; readonly region?: string; readonly instanceType?: string }): readonly Offer[];
/** The region a price is read for when none is told. */
export declare function defaultRegion(provider: Provider): string;
export declare const platforms: ReadonlyMap<string, PlatformFacts>;
export declare const catalogInfo: { readonly pricesAsOf: string; readonly sources: readonly string[] };
