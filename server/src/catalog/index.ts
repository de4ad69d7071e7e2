export {
  type ApiField,
  type ApiType,
  apiFields,
  apiKind,
  apiKinds,
  isCustomType,
  requiredApiFields,
  servedVersions,
} from './api-types.ts';
export { type NotServed, notServed } from './api-versions.ts';
export { cardLabel, hasArmHost, isCardLabel, isCurrent, memoryLabel } from './card-labels.ts';
export { gpusInLabel, gpusMentioned, gpusNamed, mayNameGpu } from './gpu-names.ts';
export { deviceGiB, familiesMeant, gpus, gpusByLabel, labelCandidates } from './gpus.ts';
export { allInstanceTypes, instanceType, instanceTypesOf, maxGpusPerInstance } from './instances.ts';
export {
  isMachineLabel,
  localDisk,
  type MachineShape,
  machineChips,
  machineCpus,
  machineLabels,
  machineMemory,
  physicalCount,
} from './machine-labels.ts';
export { instanceTypesMeant } from './machine-spelling.ts';
export { migByResource, migPriceShare, migShare, migTable, migTables, sliceGiB } from './mig.ts';
export { modelFromConfig } from './model-config.ts';
export {
  formatOfName,
  makesImages,
  modelByName,
  type NamedModel,
  type StatedParameters,
  statedParameters,
} from './model-names.ts';
export type { CacheLayers, Experts, LatentAttention, ModelKind, ModelShape } from './model-shape.ts';
export { parameterCount } from './model-words.ts';
export { languageModel } from './models.ts';
export {
  aksSpotTaint,
  allowsReserved,
  capacityLeft,
  isGpuCountLabel,
  isGpuLabel,
  isInstanceTypeLabel,
  meantNodeLabel,
  nodeLabelMeaning,
  nodeLabels,
  otherCloudKey,
  otherCloudOfLabel,
  providerOfLabel,
  type SelectedCapacity,
  spotSelector,
  spotTaintKeys,
} from './node-labels.ts';
export { platforms } from './platforms.ts';
export { type PoolManager, poolLabelOf } from './pool-labels.ts';
export {
  catalogPrices,
  everywhere,
  type FetchedPrice,
  machineKey,
  type PriceSheet,
  priceSheet,
} from './price-sheet.ts';
export {
  catalogInfo,
  cheapestOffer,
  defaultRegion,
  interruptionBand,
  offers,
  pricePerDevice,
  priceSource,
  regionsOf,
  soldModels,
} from './prices.ts';
export { addsTolerations, hasNodes, providerName, providers } from './providers.ts';
export { acceleratorResourcePrefixes, familyExamples } from './resource-families.ts';
export { type AcceleratorResource, acceleratorResourceNames, type CounterUnit } from './resource-records.ts';
export { offersDeviceFiles, shapeWords } from './resource-shape.ts';
export { acceleratorResource, knownAccelerator } from './resources.ts';
export { saleOf } from './sales.ts';
export type * from './types.ts';
export { usableGiB as usableCardGiB } from './usable-memory.ts';
export {
  type FormatId,
  ggufFormat,
  ollamaFormat,
  variantFormat,
  type WeightFormat,
  weightFormat,
} from './weight-formats.ts';
