import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import { type GpuModel, gpus, migTable, sliceGiB, usableCardGiB } from '../../catalog/index.ts';
import { formatNumber } from '../../cost/money.ts';
import { estimateOn, fitOnCard } from '../../memory/fit.ts';
import { isWhole, servedModel } from '../../model/served-model.ts';
import type { Manifest, PodAccelerator } from '../../model/workload.ts';
import {
  asClaimedMemory,
  asClaimedPartition,
  asClaimedSlice,
  asSharedClaim,
  toLargerClaim,
} from '../../rewrite/claimed-part.ts';
import { type Edits, joinEdits } from '../../rewrite/fix.ts';
import { memoryPart } from '../../rewrite/fractions.ts';
import { asText, type Cursor, getIn, items, spanOf } from '../../yaml/cursor.ts';
import type { YamlDocument } from '../../yaml/node.ts';
import { shorten } from '../../yaml/shorten.ts';
import { type Span, shiftSpan, type TextEdit, touches } from '../../yaml/span.ts';
import { type Fraction, fittingSlices, sliceWords } from './fraction.ts';
import { amdPartition, partOfGpu, ranked, shareWordsOf, timeShare } from './fractions.ts';
import { largerSliceWords, nextShare, nextSlice, wholeCard } from './larger-parts.ts';
import { type ProofBudget, proveInFile, provenTogether } from './proof.ts';
import { type PodSetPlace, podSetsIn } from './requests-at.ts';
import { devicesOf, isUndivided, type Part, type Sized } from './resizable.ts';

/** A model server on a GPU, or a part of one that is too small, that a claim requests. The claim can be in another file. */
export interface ClaimedGpu extends Sized {
  readonly claim: ClaimName;
  readonly part: Part | null;
  /** The entry of the pod, in the file. */
  readonly span: Span;
}

export interface ClaimName {
  readonly kind: 'ResourceClaim' | 'ResourceClaimTemplate';
  readonly namespace: string | null;
  readonly name: string;
}

/** One way to claim less of a GPU, or more: a change of the claim, and of the pod if it must leave memory to others. */
export interface ClaimFraction extends Omit<Fraction, 'edits'> {
  readonly inClaim: (document: YamlDocument, spec: Cursor | undefined) => Edits;
  readonly inPod: () => Edits;
}

/** The first claim of a pod in a span of the file whose GPU can be smaller, or must be larger. */
export function claimedIn(file: FileAnalysis, span: Span): ClaimedGpu | undefined {
  for (const [place, inside] of podSetsIn(file, span)) {
    const reference = items(getIn(place.podSet.pod, 'resourceClaims')).find((one) => touches(spanOf(one), inside));
    const found = reference && sizeOf(place, reference);
    if (found !== undefined) return found;
  }
  return undefined;
}

function sizeOf(place: PodSetPlace, reference: Cursor): ClaimedGpu | undefined {
  const { file, document, workload, podSet } = place;
  const [device, ...others] = podSet.accelerators;
  const claim = claimOf(reference, workload.manifest);
  if (device?.requested.kind !== 'deviceClass' || others.length > 0 || claim === undefined) return undefined;
  const part = partOf(device);
  // A claim that pods share has other users.
  if (device.perPod !== 1 || (part === null && (device.form !== 'whole' || device.devices !== 1))) return undefined;
  const gpu = part?.cards[0] ?? gpus.get(device.model ?? '');
  const cardGiB = part?.memoryGiB ?? (gpu === undefined ? null : usableCardGiB(gpu));
  const name = asText(getIn(reference, 'name'));
  const holders = podSet.containers.filter(({ resources }) =>
    items(getIn(resources, 'claims')).some((one) => asText(getIn(one, 'name')) === name),
  );
  const [container] = holders;
  if (gpu === undefined || cardGiB === null || container === undefined || holders.length > 1) return undefined;
  const { model } = servedModel(container, workload);
  const served = model !== null && isUndivided(part?.kind) ? { ...model, fraction: model.fraction && 0.95 } : model;
  if (served === null || !isWhole(served)) return undefined;
  const estimate = estimateOn(served, devicesOf(gpu, part?.kind, cardGiB));
  if (estimate === null || estimate.devices > 1) return undefined;
  const { fits } = fitOnCard(estimate, cardGiB);
  if (fits === (part !== null)) return undefined;
  const sized = { ...place, config: file.config, container, gpu, cardGiB, served, estimate };
  const direction = part === null ? 'less' : 'larger';
  return { ...sized, direction, part, claim, span: shiftSpan(spanOf(reference), document.base) };
}

/** The part of a GPU that a claim requests; null for whole GPUs and unknown parts. */
function partOf({ form, slice, memoryMiB, model, candidates, devices }: PodAccelerator): Part | null {
  if (form !== 'shared') return null;
  const cards = (model === null ? candidates : [model]).flatMap((id) => gpus.get(id) ?? []);
  const [card] = cards;
  const cardGiB = card === undefined || cards.length > 1 ? null : usableCardGiB(card);
  const label = (part: string, gpu: GpuModel) => `${part} of ${gpu.name}`;
  if (slice !== undefined) {
    const profiles = cards.map(({ id }) => migTable(id)?.profiles.find((one) => one.name === slice));
    const [profile] = profiles;
    if (profile !== undefined && !profiles.includes(undefined))
      return { kind: 'mig', label: `MIG slice ${slice}`, cards, memoryGiB: sliceGiB(profile) };
    return card?.vendor !== 'amd' || cardGiB === null || devices === null
      ? null
      : { kind: 'partition', label: label(`partition ${slice}`, card), cards, memoryGiB: cardGiB * devices };
  }
  // Nothing limits what a process takes, as with an annotation.
  return memoryMiB === undefined || card === undefined || cardGiB === null
    ? null
    : { kind: 'annotated', label: label(`${formatNumber(memoryMiB)} MiB`, card), cards, memoryGiB: memoryMiB / 1024 };
}

function claimOf(reference: Cursor, { namespace }: Manifest): ClaimName | undefined {
  const source = getIn(reference, 'source') ?? reference;
  const template = asText(getIn(source, 'resourceClaimTemplateName'));
  const name = template ?? asText(getIn(source, 'resourceClaimName'));
  return name === undefined
    ? undefined
    : { kind: template === undefined ? 'ResourceClaim' : 'ResourceClaimTemplate', namespace, name };
}

/** What the claim can request instead, as far as the model fits. */
export function claimFractions(place: ClaimedGpu): readonly ClaimFraction[] {
  const { part } = place;
  const found =
    part !== null
      ? larger(place, part)
      : place.gpu.vendor === 'amd'
        ? partitions(place)
        : [...slices(place), ...memory(place), ...shared(place)];
  return ranked(place, found);
}

const unchanged = (): Edits => [];

function slices(place: ClaimedGpu): readonly ClaimFraction[] {
  if (place.config.migStrategy === 'none') return [];
  return fittingSlices(place).map((option) => ({
    ...sliceWords(place, option),
    needs: `slices of class mig.nvidia.com; ${users(place)} get one`,
    sign: { deviceClass: 'mig.nvidia.com' },
    inClaim: (document, spec) => asClaimedSlice(document, spec, option.profile),
    inPod: unchanged,
  }));
}

function partitions(place: ClaimedGpu): readonly ClaimFraction[] {
  return amdPartition(place).map(({ mode, words }) => ({
    ...words,
    label: `Partition ${mode}`,
    needs: `GPUs in ${mode} mode; ${users(place)} get a partition`,
    inClaim: (document, spec) => asClaimedPartition(document, spec, mode),
    inPod: unchanged,
  }));
}

/** A claim of its own for each pod, of a part of the memory. */
function memory(place: ClaimedGpu): readonly ClaimFraction[] {
  const found = timeShare(place);
  if (found === undefined || found.isMps) return [];
  const share = 1 / found.pods;
  const mebibytes = Math.floor((place.cardGiB * 1024 * share) / 100) * 100;
  return [
    {
      ...shareWordsOf(
        place,
        partOfGpu(place, 'annotated', share),
        `${formatNumber(mebibytes)} MiB of the GPU (time slicing)`,
        'shares',
      ),
      id: 'claimed memory',
      needs: `DRA with consumableShares=memory; ${users(place)} get a part`,
      inClaim: (document, spec) => asClaimedMemory(document, spec, mebibytes),
      inPod: () => partOfMemory(place, share),
    },
  ];
}

/** One claim that several pods name. A template makes a claim for each pod. */
function shared(place: ClaimedGpu): readonly ClaimFraction[] {
  const found = timeShare(place);
  if (found === undefined || place.claim.kind !== 'ResourceClaim') return [];
  const { pods, isMps } = found;
  const others = pods === 2 ? 'another pod' : `${pods - 1} other pods`;
  const gate = isMps ? 'MPSSupport' : 'TimeSlicingSettings';
  return [
    {
      ...shareWordsOf(
        place,
        partOfGpu(place, 'shared', 1 / pods),
        `1/${pods} of the claimed GPU (${isMps ? 'MPS' : 'time slicing'})`,
        'shares',
      ),
      id: 'shared claim',
      needs: `DRA with ${gate}, and ${others} of ${shorten(place.claim.name, 40)}`,
      inClaim: (document, spec) => asSharedClaim(document, spec, { pods, strategy: isMps ? 'MPS' : 'TimeSlicing' }),
      inPod: () => partOfMemory(place, 1 / pods),
    },
  ];
}

function larger(place: ClaimedGpu, part: Part): readonly ClaimFraction[] {
  const sizes = nextSlice(place, part).map((option): ClaimFraction => {
    const from = place.podSet.accelerators[0]?.slice ?? '';
    return {
      ...largerSliceWords(place, part, option),
      inClaim: (document, spec) => toLargerClaim(document, spec, { as: 'profile', from, name: option.profile.name }),
      inPod: unchanged,
    };
  });
  const shares = nextShare(place, part).map(
    ({ words, pods, mebibytes }): ClaimFraction => ({
      ...words,
      id: 'larger share',
      needs: null,
      inClaim: (document, spec) => toLargerClaim(document, spec, { as: 'memory', mebibytes }),
      inPod: () => partOfMemory(place, 1 / pods),
    }),
  );
  const whole = wholeCard(place, part).map(
    (words): ClaimFraction => ({
      ...words,
      inClaim: (document, spec) => toLargerClaim(document, spec, { as: 'whole' }),
      inPod: () => (part.kind === 'annotated' ? partOfMemory(place, 0.95) : []),
    }),
  );
  return [...sizes, ...shares, ...whole];
}

function users({ claim }: ClaimedGpu): string {
  return `all pods of ${shorten(claim.name, 40)}`;
}

function partOfMemory({ document, container, served }: ClaimedGpu, share: number): Edits {
  return memoryPart({ document: document.document, container, engine: served.engine }, share);
}

/** A change of a claim, with offsets in the file that has it, and of its pod, with offsets in the pod's file. */
export interface ClaimFix {
  readonly title: string;
  readonly inClaim: readonly TextEdit[];
  readonly inPod: readonly TextEdit[];
}

/** The edits of the files that have the claim and the pod; undefined if they cannot be made without damage. */
export function claimFix(place: ClaimedGpu, id: string, file: FileAnalysis, budget: ProofBudget): ClaimFix | undefined {
  const one = claimFractions(place).find((fraction) => fraction.id === id);
  const { kind, namespace, name } = place.claim;
  const found = file.documents.flatMap((document) =>
    document.manifests.flatMap((manifest) =>
      manifest.kind === kind && manifest.namespace === namespace && manifest.name === name
        ? { document, manifest }
        : [],
    ),
  );
  const [only, ...others] = found;
  if (one === undefined || only === undefined || others.length > 0) return undefined;
  const { document, manifest } = only;
  const spec = getIn(manifest.root, ...(kind === 'ResourceClaim' ? ['spec'] : ['spec', 'spec']));
  const inClaim = joinEdits(one.inClaim(document.document, spec));
  const inPod = joinEdits(one.inPod());
  if (inClaim === undefined || inClaim.length === 0 || inPod === undefined) return undefined;
  const isProven = (where: { file: FileAnalysis; document: DocumentAnalysis }, edits: readonly TextEdit[]): boolean =>
    edits.length === 0 || provenTogether(where, [{ edits }], budget).length > 0;
  const isSafe =
    file === place.file && inPod.length > 0
      ? proveInFile(
          file,
          file.documents.map((other) =>
            other === document ? [{ edits: inClaim }] : other === place.document ? [{ edits: inPod }] : [],
          ),
          budget,
        )
      : isProven({ file, document }, inClaim) && isProven(place, inPod);
  const moved = (edits: readonly TextEdit[], { base }: DocumentAnalysis) =>
    edits.map((edit) => ({ ...edit, span: shiftSpan(edit.span, base) }));
  return isSafe
    ? { title: `Use ${one.label}`, inClaim: moved(inClaim, document), inPod: moved(inPod, place.document) }
    : undefined;
}
